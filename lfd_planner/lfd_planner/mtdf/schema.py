"""The published JSON Schema of the format, made of the same tables that the reader uses.

`python -m lfd_planner.mtdf.schema` prints it; a test compares the file with it.
"""

import json
from typing import Any

from .layout import RULE_MAPPING, TASK, VERSIONS

TITLE = 'MTDF: a manipulation task as motions of objects'
COMMENT = (
    'What a schema cannot say is checked by ./lfd mtdf check: unit quaternions, order of times, '
    'what is held when, and which objects a scene has.'
)


def json_schema() -> dict[str, Any]:
    """The schema of all versions, JSON Schema 2020-12."""
    oldest, newest = VERSIONS
    tasks = {f'version_{version}': _of_version(version) for version in VERSIONS}
    return {
        '$schema': 'https://json-schema.org/draft/2020-12/schema',
        'title': TITLE,
        '$comment': COMMENT,
        'type': 'object',
        'if': {'properties': {'version': {'const': newest}}, 'required': ['version']},
        'then': {'$ref': f'#/$defs/version_{newest}'},
        'else': {'$ref': f'#/$defs/version_{oldest}'},
        '$defs': {**tasks, 'rule': RULE_MAPPING.schema(newest)},
    }


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(json_schema(), indent=2) + '\n'


def _of_version(version: int) -> dict[str, Any]:
    schema = TASK.schema(version)
    schema['properties']['version'] = {'description': 'of the format', 'const': version}
    if version > VERSIONS[0]:
        schema['required'] = ['version', *schema['required']]
    return schema


if __name__ == '__main__':
    print(schema_text(), end='')

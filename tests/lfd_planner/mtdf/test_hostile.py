"""Files that only an attacker or an accident writes: refused by a process that may take little memory and time."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name('hostile_child.py')
NEARLY = 9_900_000  # characters, just below what may be read
HEAD = 'object_descriptors: [a]\nkeyframes:\n'


def filled(piece: str) -> str:
    return piece * (NEARLY // len(piece))


def laughs() -> str:
    lines = ['a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]']
    lines += [f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 9)}]' for n in range(1, 30)]
    return '\n'.join(lines)


TEXTS: dict[str, Callable[[], str]] = {
    'aliases that explode': laughs,
    'an alias of itself': lambda: f'{HEAD}- &a [*a]',
    'merge keys': lambda: 'x: &x {a: 1}\ny: {<<: *x}\n',
    'tags': lambda: f'{HEAD}- !!python/object/apply:os.system ["true"]',
    'open lists': lambda: filled('['),
    'open mappings': lambda: filled('{'),
    'lists in mappings': lambda: filled('{a: ['),
    'lists in lists': lambda: filled('- '),
    'keys in keys': lambda: filled('? '),
    'deep below keyframes': lambda: f'{HEAD}- {"[" * 5000}{"]" * 5000}',
    'many values': lambda: f'[{filled("a,")}',
    'many keys': lambda: filled('a: b\n'),
    'many keyframes that are none': lambda: HEAD + '- a\n' * 20_000,
    'many missing commas': lambda: f'{HEAD}- {{{filled("a: [] ")}}}',
    'missing commas and depth': lambda: f'{HEAD}- {{a: [] b: {filled("{a: [] b: ")}',
    'one long word': lambda: filled('a'),
    'one long text': lambda: f'"{filled("a")}"',
    'one long text that never ends': lambda: f'"{filled("a")}',
    'one long key': lambda: f'{filled("a")}: b',
    'one long comment': lambda: filled('#'),
    'many documents': lambda: filled('---\n'),
    'many directives': lambda: filled('%TAG ! tag:a\n'),
    'blank lines': lambda: filled('\n'),
    'spaces': lambda: filled(' '),
    'tabs': lambda: filled('\t'),
    'zeros': lambda: filled('\0'),
    'a tab as indent': lambda: 'object_descriptors:\n\t- a\nkeyframes: []\n',
    'wrong types': lambda: 'object_descriptors: {a: b}\nkeyframes: "pick"\n',
    'more wrong types': lambda: 'object_descriptors: [[a], {b: c}, 5, ~]\nkeyframes: [a, [b], 5, {}, {type: [pick]}]\n',
    'a key twice': lambda: f'{HEAD}- {{type: pick, object_descriptor: a}}\nkeyframes: []\n',
    'a huge number': lambda: (
        f'{HEAD}- {{type: pick, object_descriptor: a}}\n- {{type: place, object_descriptor: a, '
        f'place_pose: {{position: [{"9" * 1_000_000}, 1e999999999, 0], orientation: [0, 0, 0, 1]}}}}'
    ),
    'a huge version': lambda: f'version: {"2" * 1_000_000}\n{HEAD}',
    'json with NaN': lambda: json.dumps(
        {
            'object_descriptors': ['a'],
            'keyframes': [
                {'type': 'pick', 'object_descriptor': 'a'},
                {
                    'type': 'place',
                    'object_descriptor': 'a',
                    'place_pose': {'position': [float('nan'), float('inf'), 0], 'orientation': [0, 0, 0, 1]},
                },
            ],
        }
    ),
    'rules in rules': lambda: (
        f'version: 2\nobject_descriptors: [{{name: a, rule: {"{not: " * 500}{{shape: box}}{"}" * 501}]\nkeyframes: []\n'
    ),
    'unknown objects': lambda: HEAD + '- {type: pick, object_descriptor: b}\n' * 20_000,
    'descriptors': lambda: f'object_descriptors: [{"a, " * 50_000}]\nkeyframes: []\n',
    'a wide rule': lambda: (
        f'version: 2\nobject_descriptors: [{{name: a, rule: {{any: [{"{shap: box}, " * 20_000}]}}}}]\nkeyframes: []\n'
    ),
    'wide and deep rules': lambda: (
        'version: 2\nobject_descriptors:\n'
        + '- {name: a, rule: {all: [{any: [{all: [{any: [{size: {longest: 5}}]}]}]}]}}\n' * 2_000
        + 'keyframes: []\n'
    ),
}


@pytest.fixture(scope='module')
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What a process with little memory says of each file."""
    folder = tmp_path_factory.mktemp('hostile')
    files = []
    for name, text in TEXTS.items():
        files.append(folder / name)
        files[-1].write_text(text(), encoding='utf-8')
    files += [folder / '100 MB', folder / 'bytes', folder / 'a byte order mark', folder / 'a pipe']
    with files[-4].open('wb') as stream:
        stream.truncate(100_000_000)
    files[-3].write_bytes(bytes(range(128, 256)) * 1000)
    files[-2].write_text(f'\ufeff{HEAD}', encoding='utf-8')
    os.mkfifo(files[-1])
    files.append(Path('/dev/zero'))
    command = [sys.executable, str(CHILD), *map(str, files)]
    child = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    found = [json.loads(line) for line in child.stdout.splitlines()]
    assert child.returncode == 0, f'{files[len(found)].name}: {child.returncode} {child.stderr[-2000:]}'
    return {line['file']: line['problems'] for line in found}


@pytest.mark.parametrize('name', [*TEXTS, '100 MB', 'bytes', 'a byte order mark', 'a pipe', 'zero'])
def test_is_refused_in_a_few_words(name: str, outcomes: dict[str, list[str]]):
    assert outcomes[name]
    assert all(len(problem) < 400 for problem in outcomes[name])


@pytest.mark.parametrize(
    ('name', 'message'),
    [
        ('aliases that explode', 'anchors (&) and aliases (*) are not used here; write the value out.'),
        ('tags', "the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not used here; remove it."),
        ('open lists', 'lists and keys are nested 24 levels deep; flatten them.'),
        ('many values', 'there are more than 500000 values; split the file.'),
        ('100 MB', 'it has more than 10000000 bytes; split the task.'),
        ('bytes', 'it is no UTF-8 text; save it as such.'),
        ('a byte order mark', 'the text begins with a byte order mark;'),
        ('a pipe', 'it is no file; name a YAML or JSON file.'),
        ('zero', 'it is no file; name a YAML or JSON file.'),
        ('a tab as indent', 'a tab stands where YAML asks for spaces; indent with spaces.'),
        ('a key twice', "the key 'keyframes' is there twice; remove one."),
        ('json with NaN', "'NaN' is no finite number; write one such as 0.25."),
        ('a huge number', 'is no number; write one such as 0.25.'),
        ('zeros', 'line 1, column 1: the character U+0000 is not allowed; remove it.'),
    ],
)
def test_says_why(name: str, message: str, outcomes: dict[str, list[str]]):
    assert any(message in problem for problem in outcomes[name])

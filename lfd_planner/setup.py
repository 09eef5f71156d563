from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'lfd_planner'
DATA = ('schema', 'tasks')


def shared(folder: str) -> list[tuple[str, list[str]]]:
    """The files below a folder, each to go to the same place below the package's share."""
    files = (file for file in sorted(Path(folder).rglob('*')) if file.is_file())
    return [(f'share/{PACKAGE}/{file.parent.as_posix()}', [str(file)]) for file in files]


setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        *(entry for folder in DATA for entry in shared(folder)),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='lfd developers',
    maintainer_email='lfd@example.org',
    description='From a demonstrated task and a scene to a checked robot motion.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'move_group = lfd_planner.nodes.move_group:main',
            'scene_sync = lfd_planner.nodes.scene_sync:main',
            'task_executor = lfd_planner.nodes.task_executor:main',
            'task_planner = lfd_planner.nodes.task_planner:main',
        ]
    },
)

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'lfd_bringup'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/launch', sorted(glob('launch/*.launch.py'))),
        (f'share/{PACKAGE}/rviz', sorted(glob('rviz/*.rviz'))),
        (f'share/{PACKAGE}/requirements', sorted(glob('requirements/*.txt'))),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='lfd developers',
    maintainer_email='lfd@example.org',
    description='Who starts what: one description of the graph for ros2 launch and for ./lfd up.',
    license='Apache-2.0',
    entry_points={'console_scripts': []},
)

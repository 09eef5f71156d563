from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'lfd_vr_bridge'


def shared(folder):
    files = sorted(path for path in Path(folder).rglob('*') if path.is_file())
    return [(f'share/{PACKAGE}/{path.parent}', [str(path)]) for path in files]


setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        *shared('libraries'),
        *shared('web'),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='lfd developers',
    maintainer_email='lfd@example.org',
    description="From a person's hands in VR to a task description, and back.",
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            f'fetch_page_libraries = {PACKAGE}.web_libraries:main',
            f'vr_bridge = {PACKAGE}.nodes.vr_bridge:main',
            f'unity_endpoint = {PACKAGE}.nodes.unity_endpoint:main',
        ],
    },
)

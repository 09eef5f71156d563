from setuptools import find_packages, setup

PACKAGE = 'lfd_vr_bridge'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='lfd developers',
    maintainer_email='lfd@example.org',
    description="From a person's hands in VR to a task description, and back.",
    license='Apache-2.0',
    entry_points={'console_scripts': []},
)

from setuptools import find_packages, setup

PACKAGE = 'lfd_hardware'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed'], f'{PACKAGE}.drivers.abb': ['lfd_egm.mod']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='lfd developers',
    maintainer_email='lfd@example.org',
    description='The embedded stand-in for ros2_control: controller manager, controllers and drivers.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'ros2_control_node = lfd_hardware.nodes.ros2_control_node:main',
            'spawner = lfd_hardware.nodes.spawner:main',
            'twin = lfd_hardware.nodes.twin:main',
        ]
    },
)

"""The quality of service of the suite's topics and services, each profile by the name of what it is for."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data

LATCHED_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The last message is there for whoever comes later: descriptions, whole scenes, planned paths."""
TASK_DESCRIPTION_QOS = QoSProfile(
    depth=2, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Latched: that the task before is gone, and what the new one is."""
TF_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
TF_STATIC_QOS = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""For listeners: there are several publishers of fixed frames."""
JOINT_STATES_QOS = qos_profile_sensor_data
"""For listeners: the newest state counts."""
JOINT_STATES_OUT_QOS = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
MONITORED_SCENE_QOS = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
)
SCENE_INPUT_QOS = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
"""A thousand objects can come at once, and none must be lost."""
TWIN_UPDATES_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
)
BUSY_SERVICE_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
"""Requests that come while all threads are busy must not be lost."""
CONTROLLER_STATE_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For listeners: the newest state counts."""
CELL_SIGNALS_QOS = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Latched: what the cell's inputs and outputs were told to be last."""
VALVE_QOS = QoSProfile(depth=10)
"""Of what a forward_command_controller is told."""
UNITY_HEARS_QOS = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
"""Of topics that Unity subscribed to, while nobody publishes; then it is made to match who does."""

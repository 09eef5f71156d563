"""Logs of demonstrations as MCAP files, which Foxglove and rosbag2 open, and which can be shown to the recorder again.

    Studio ──► events, changes ──► DemoLogger (a thread) ──► FILE.mcap ──► read_log ──► replayed ──► an equal task

| topic | type | what |
|---|---|---|
| `demonstration/events` | std_msgs/String | what was done, as JSON: all that a replay needs |
| `demonstration/left_hand`, `right_hand`, `head` | geometry_msgs/PoseStamped | the person |
| `demonstration/left_grip`, `right_grip` | std_msgs/Float32 | 0 open .. 1 closed, when it changes |
| `demonstration/objects` | visualization_msgs/MarkerArray | what the objects look like, each in its own frame |
| `tf` | tf2_msgs/TFMessage | where the objects are |

While a demonstration goes on, its log is written in chunks that are complete; what is cut short by a crash is read up
to there.
"""

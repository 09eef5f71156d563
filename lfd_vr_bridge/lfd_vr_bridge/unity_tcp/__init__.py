"""What Unity's ROS-TCP-Connector 0.7 says over TCP, and a server that answers it; no ROS in here.

```
socket ──► frames ──► commands ──► session ──► RosPort (lfd_vr_bridge.nodes.unity_ros)
socket ◄── outbox ◄──────────────────┘
```
"""

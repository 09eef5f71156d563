"""The page's server: one port for page, WebSocket and meshes; without ROS.

    browser ◄──► app (http, https) ◄──► hub (who is there, who demonstrates) ◄──► Studio, Robot
                  └─ pages, assets       └─ sessions ◄─ protocol, pairing

`BridgeServer` runs all of it in a thread of its own; docs/vr_protocol.md has what goes over the wire.
"""

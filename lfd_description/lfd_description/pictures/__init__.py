"""Pictures of robots and scenes, made without a display: PNG files and a 3-D page."""

"""From a demonstrated task and a scene to a checked robot motion."""

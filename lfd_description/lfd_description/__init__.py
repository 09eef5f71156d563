"""Robots, grippers and scenes: from a folder to a planning-ready robot description."""

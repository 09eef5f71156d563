"""What a planning server is made of, without ROS: the monitored scene, known frames, requests and their answers."""

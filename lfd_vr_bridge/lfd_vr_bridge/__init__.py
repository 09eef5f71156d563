"""From a person's hands in VR to a task description, and back."""

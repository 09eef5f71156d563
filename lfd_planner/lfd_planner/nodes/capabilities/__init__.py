"""What a planning server offers, one capability a file, as in move_group."""

"""The stages of manipulation, one file each, named as a person speaks of them."""

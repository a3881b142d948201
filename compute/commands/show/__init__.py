"""The commands that print results."""

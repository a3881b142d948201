"""The forms of the page Holes."""

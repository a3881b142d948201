"""For the page Holes."""

"""The views of the page Holes."""

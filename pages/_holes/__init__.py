"""The sections of the page Holes."""

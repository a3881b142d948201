"""The views of the page Data."""

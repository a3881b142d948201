"""The views of the page Efficiency."""

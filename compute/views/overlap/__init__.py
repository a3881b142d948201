"""The views of the page Overlap."""

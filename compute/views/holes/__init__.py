"""The views of the Holes page."""

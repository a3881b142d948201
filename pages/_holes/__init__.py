"""The forms of the Holes page."""

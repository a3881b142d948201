"""Views of the Holes page."""

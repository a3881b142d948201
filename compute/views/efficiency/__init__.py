"""Views of the Efficiency page."""

"""Views of the Overlap page."""

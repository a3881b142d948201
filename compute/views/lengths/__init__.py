"""Views of the Lengths page."""

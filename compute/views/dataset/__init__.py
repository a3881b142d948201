"""Views of the Dataset page."""

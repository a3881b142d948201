"""Views of the Data page."""

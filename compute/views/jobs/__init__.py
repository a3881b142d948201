"""Views of the Jobs page."""

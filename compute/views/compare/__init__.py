"""Views of the Compare page."""

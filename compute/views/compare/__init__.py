"""The views of the Compare page."""

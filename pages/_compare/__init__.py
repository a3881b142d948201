"""The sections of the Compare page."""

"""The sections of the Overlap page."""

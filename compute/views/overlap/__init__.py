"""The views of the Overlap page."""

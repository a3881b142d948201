"""The views of the Efficiency page."""

"""The views of the Lengths page."""

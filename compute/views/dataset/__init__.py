"""The views of the Dataset page."""

"""The views of the Jobs page."""

"""The views of the page Judge."""

"""For the page Judge."""

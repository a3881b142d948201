"""The sections of the page Judge."""

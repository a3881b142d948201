"""The sections of the page Overlap."""

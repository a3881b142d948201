"""The sections of the page Efficiency."""

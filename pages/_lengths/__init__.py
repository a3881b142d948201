"""The sections of the page Lengths."""

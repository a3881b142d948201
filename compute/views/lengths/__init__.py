"""The views of the page Lengths."""

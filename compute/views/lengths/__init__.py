"""For the page Lengths."""

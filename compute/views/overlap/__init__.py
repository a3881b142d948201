"""For the page Overlap."""

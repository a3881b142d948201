"""For the page Efficiency."""

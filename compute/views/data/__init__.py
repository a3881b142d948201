"""For the page Data."""

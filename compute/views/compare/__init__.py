"""For the page Compare."""

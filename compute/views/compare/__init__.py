"""The views of the page Compare."""

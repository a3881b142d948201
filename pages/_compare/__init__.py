"""The sections of the page Compare."""

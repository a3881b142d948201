"""For the page Annotate."""

"""The sections of the page Annotate."""

"""Views of the Judge page."""

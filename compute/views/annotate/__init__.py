"""The views of the Judge page."""

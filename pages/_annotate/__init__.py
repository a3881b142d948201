"""The sections of the Judge page."""

"""Sections of the Judge page."""

"""Sections of the Query page."""

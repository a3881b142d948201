"""Sections of the Jobs page."""

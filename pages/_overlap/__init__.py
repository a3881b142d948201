"""Sections of the Overlap page."""

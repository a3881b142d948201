"""Sections of the Data page."""

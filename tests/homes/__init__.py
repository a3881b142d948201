"""Homes that older versions made."""

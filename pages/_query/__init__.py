"""The sections of the Query page."""

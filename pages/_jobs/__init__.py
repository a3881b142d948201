"""The sections of the Jobs page."""

"""The sections of the page Query."""

"""The sections of the Data page."""

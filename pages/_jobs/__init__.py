"""The sections of the page Jobs."""

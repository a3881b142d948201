"""The views of the page Jobs."""

"""For the page Jobs."""

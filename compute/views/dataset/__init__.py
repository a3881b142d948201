"""For the page Dataset."""

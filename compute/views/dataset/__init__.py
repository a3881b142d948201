"""The views of the page Dataset."""

"""The sections of the page Dataset."""

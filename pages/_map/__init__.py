"""The sections of the page Map."""

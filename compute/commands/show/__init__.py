"""What `show` prints."""

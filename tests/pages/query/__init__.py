"""The page Query."""

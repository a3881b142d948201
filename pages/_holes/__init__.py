"""Forms of the Holes page."""

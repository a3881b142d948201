"""Code that several pages share."""

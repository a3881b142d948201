"""The pages on a store of full size: opened by sessions, in a browser, and by many at once."""

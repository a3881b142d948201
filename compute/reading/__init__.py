"""One published version of the store, open for queries."""

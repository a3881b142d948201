"""What comes in: runs, qrels and collections, checked, fetched, imported."""

"""Import of runs, qrels and corpora: checked, fetched, stored."""

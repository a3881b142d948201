"""Import of runs, qrels and corpora, which are fetched, checked and stored."""

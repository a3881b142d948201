"""Systems made of the runs of others: fusion and reranking."""

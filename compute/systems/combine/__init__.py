"""Systems made from the runs of other systems: fusion and reranking."""

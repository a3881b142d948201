"""Systems that combine the runs of other systems: fusion and reranking."""

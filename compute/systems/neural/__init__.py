"""Systems that search with vectors: dense retrieval and late interaction."""

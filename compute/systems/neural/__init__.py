"""Systems that search vectors: dense retrieval and late interaction."""

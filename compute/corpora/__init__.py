"""Statistics of texts: lengths, words, and the similarity of corpora."""

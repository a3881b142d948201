"""Systems that search words: BM25 and its relatives, by Anserini and Lucene."""

"""Lexical systems: BM25 and its relatives, run by Anserini and Lucene."""

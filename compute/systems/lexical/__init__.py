"""Lexical systems: BM25 and its relatives, computed by Anserini and Lucene."""

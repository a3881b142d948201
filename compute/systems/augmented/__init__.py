"""BM25 whose queries are augmented and weighted by a trained encoder, end to end.

"BM25 Query Augmentation Learned End-to-End": an encoder reads only the query and gives each word
piece of the vocabulary an added amount a(q) and each word piece of the query a weight w(q); a
document keeps its BM25 vector. `vectors` contains the documents, `loss` the objective, `model` the
encoder, `training` the loop, `recipe` the parameters in a system's name, and `search` the Lucene
queries.
"""

"""BM25 whose queries a trained encoder augments and weights, learned end to end. The method is that
of "BM25 Query Augmentation Learned End-to-End". An encoder reads only the query, and gives each
word piece of the vocabulary an added amount a(q) and each word piece of the query a weight w(q);
documents keep their BM25 vectors. `vectors` reads the documents, `examples` makes batches, `loss`
has the objective, `model` the encoder, `training` the loop, `parameters` the parameters in a
system's name, `recipe` the training recipe, and `search` the Lucene queries."""

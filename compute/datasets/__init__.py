"""Collections: the catalogue of datasets, and reading their documents, queries and judgements.

Importing this loads no pandas: `reading` does, which opens a collection.
"""

from compute.datasets.catalogue import DATASETS, Dataset, dataset
from compute.datasets.records import Document

"""Collections: the catalogue of datasets, and readers of their documents, queries and judgements.
Importing this package does not load pandas; `reading`, which opens a collection, does."""

from compute.datasets.catalogue import DATASETS, Dataset, dataset
from compute.datasets.records import Document

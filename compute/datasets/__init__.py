"""Collections: the catalogue of datasets, and reading their documents, queries and judgements.

Importing this does not load pandas; `reading`, which opens a collection, does."""

from compute.datasets.catalogue import DATASETS, Dataset, dataset
from compute.datasets.records import Document

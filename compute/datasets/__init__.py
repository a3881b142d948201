"""Collections: the catalogue of datasets, and reading their documents, queries and judgements."""

from compute.datasets.catalogue import DATASETS, Dataset, dataset
from compute.datasets.reading import BeirSource, PyDocs, QrelsOnly, Source, open_path, source
from compute.datasets.records import Document

__all__ = [
    "DATASETS",
    "BeirSource",
    "Dataset",
    "Document",
    "PyDocs",
    "QrelsOnly",
    "Source",
    "dataset",
    "open_path",
    "source",
]

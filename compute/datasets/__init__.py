"""Collections: the catalogue of datasets, and reading their documents, queries and judgements."""

from compute.datasets.catalogue import DATASETS, Dataset, dataset
from compute.datasets.checking import Finding, Report
from compute.datasets.checking import check as check_path
from compute.datasets.reading import BeirSource, PyDocs, QrelsOnly, Source, open_path, source
from compute.datasets.records import Document

__all__ = [
    "DATASETS",
    "BeirSource",
    "Dataset",
    "Document",
    "Finding",
    "PyDocs",
    "QrelsOnly",
    "Report",
    "Source",
    "check_path",
    "dataset",
    "open_path",
    "source",
]

"""Judgements: their sources; one label of many for a pair; qrels files in and out."""

from compute.datasets.qrels import is_qrels, read_qrels, write_qrels
from compute.judgements.labels import RULES, Choice, Rule, labels, resolve
from compute.judgements.sources import (
    ADJUDICATION,
    HUMAN,
    IMPORT,
    IN_VIEW,
    MODEL,
    PERSON,
    SOURCES,
    WITHDRAWN,
)

__all__ = [
    "ADJUDICATION",
    "HUMAN",
    "IMPORT",
    "IN_VIEW",
    "MODEL",
    "PERSON",
    "RULES",
    "SOURCES",
    "WITHDRAWN",
    "Choice",
    "Rule",
    "is_qrels",
    "labels",
    "read_qrels",
    "resolve",
    "write_qrels",
]

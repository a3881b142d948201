"""Judgements: their sources, and one label of many for a pair."""

from compute.judgements.labels import (
    ADJUDICATION,
    HUMAN,
    IMPORT,
    IN_VIEW,
    MODEL,
    PERSON,
    RULES,
    SOURCES,
    WITHDRAWN,
    Choice,
    labels,
    resolve,
)

"""Judgements: their sources, and the rules that combine several into one label per pair."""

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

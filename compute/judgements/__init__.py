"""Judgements: their sources, and one label from several for a pair."""

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

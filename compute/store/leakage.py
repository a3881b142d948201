"""The vocabulary of stored leakage: the texts searched, and the labels of queries."""

KIND = "leakage"
QUERY, DOCUMENT = "query", "document"
"""Texts that are searched for: a test query, or a document relevant to one."""
FOUND, NOT_FOUND = "found", "not found"


def keys(training: str) -> tuple[str, str]:
    """The keys of its query labels: for queries found by their own text or a relevant document,
    and for those found by their own text."""
    return f"leakage {training}", f"leakage {training}, query text"

"""The vocabulary of stored leakage: which texts are searched for, and the labels of queries."""

KIND = "leakage"
QUERY, DOCUMENT = "query", "document"
"""The texts searched for: a test query, or a document that is relevant to one."""
FOUND, NOT_FOUND = "found", "not found"


def keys(training: str) -> tuple[str, str]:
    """Return the keys of two query labels of a training set: queries found by their own text or by
    a relevant document, and queries found by their own text."""
    return f"leakage {training}", f"leakage {training}, query text"

"""The words of stored leakage: what was looked for, and how queries are labelled."""

KIND = "leakage"
QUERY, DOCUMENT = "query", "document"
"""Found texts: of a test query, or of a document relevant to one."""
FOUND, NOT_FOUND = "found", "not found"


def keys(training: str) -> tuple[str, str]:
    """The keys of its query labels: of queries that it holds themselves or by a relevant document,
    and of those whose own text it holds."""
    return f"leakage {training}", f"leakage {training}, query text"

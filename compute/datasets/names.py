"""Column and field names in other tools' runs and judgements: one table for all readers."""

import re
from collections.abc import Iterable, Mapping

_COLUMNS = {
    "query_id": "queryid qid topic topicid questionid",
    "doc_id": "docno docid did pid corpusid documentid passageid docuri chunkid nodeid",
    "relevance": "relevance rel label grade rating judgment judgement",
    "score": "score similarity",
    "rank": "rank",
    "tag": "tag runid runtag system",
    "text": "text content contents body passage chunk passagetext documenttext",
}
"""Column of each name; the first in a file counts, since `docid` next to `docno` is an internal id
of Terrier."""
_ELSE = {"query_id": "query question userinput querytext id", "doc_id": "id doc document"}
"""Names used if no other fits; except for `id`, such a field may hold the query's text."""
_RUNS = (
    "retrieved retrievedids retrieveddocids retrieveddocs retrieveddocuments retrievedcontextids"
    " retrieveddocumentids retrievedcontext results result run hits ranking rankings toprankings"
    " rankedids predictedids predictions predicted candidates corpusids topranked outputs"
)
_JUDGED = (
    "expected expectedids expecteddocids expecteddocs relevant relevantids relevantdocs"
    " relevantdocids relevantdocuments gold goldids golddocids golddocs referencecontextids"
    " positives positiveids positivepassages groundtruth groundtruthids targets targetids qrels"
    " ratings judgments judgements expectedretrievedcontext"
)
_NUMBERS = {"score", "rank", "relevance"}
RUN, JUDGED = "run", "judgements"
ROLES: dict[str, str] = {
    **dict.fromkeys(_RUNS.split(), RUN),
    **dict.fromkeys(_JUDGED.split(), JUDGED),
}
"""Roles of fields that hold lists or objects of documents."""
TEXTS: dict[str, str] = {
    **dict.fromkeys(["retrievedcontexts", "retrievedtexts", "retrievedpassages", "contexts"], RUN),
    **dict.fromkeys(["referencecontexts", "expectedcontexts", "goldcontexts"], JUDGED),
}
"""Names of fields that hold lists of document texts."""
LISTS = ROLES | TEXTS
NUMBERS = {RUN: {"scores", "retrievedscores"}, JUDGED: {"grades", "relevances", "labels"}}
"""Fields whose lists of numbers correspond to the lists of documents."""


def plain(name: str) -> str:
    """Letters and digits of a name; `corpus-id`, `corpus_id` and `corpusId` are the same."""
    return re.sub("[^a-z0-9]", "", name.lower())


def column_of(name: str) -> str:
    """Column for a name in any spelling; else the name in lower-case letters and digits."""
    found = (of for table in (_COLUMNS, _ELSE) for of, names in table.items() if _in(name, names))
    return next(found, plain(name))


def columns(names: Iterable[str]) -> dict[str, str]:
    """Meaning of each column by its name; several grades or scores have no meaning."""
    by_plain = {plain(name): name for name in reversed([*names])}
    found: dict[str, str] = {}
    for table in (_COLUMNS, _ELSE):
        for of, called in table.items():
            free = [by_plain[one] for one in called.split() if one in by_plain]
            free = [one for one in free if one not in found.values()]
            if of not in found and free and (len(free) == 1 or of in _ELSE):
                found[of] = free[0]
    return found


def lacking(found: Iterable[str]) -> str:
    """Columns missing from rows; empty if they are complete."""
    found = {*found}
    needed = ["query_id", "doc_id", *["score, rank or relevance"] * (not found & _NUMBERS)]
    return next((name for name in needed if name not in found), "")


def asks(names: Iterable[str]) -> bool:
    """Return whether one of the names is a query id's only."""
    return any(_in(name, _COLUMNS["query_id"]) for name in names)


def has_lists(names: Iterable[str]) -> bool:
    """Return whether columns contain lists of documents but no single document."""
    called = [*names]
    return "doc_id" not in columns(called) and any(plain(name) in LISTS for name in called)


def may_be_text(name: str) -> bool:
    """Return whether a column of queries may contain their texts."""
    return plain(name) in _ELSE["query_id"].split()[:-1]


def is_beir(found: Mapping[str, str]) -> bool:
    """Return whether these are BEIR's names, with which `score` is a grade."""
    return plain(found.get("doc_id", "")) == "corpusid" and not {"relevance", "rank"} & {*found}


def _in(name: str, names: str) -> bool:
    return plain(name) in names.split()

"""Names of columns and fields in other tools' runs and judgements: one table for all readers."""

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
"""Known names of each column, preferred names first: Terrier's `docid` beside `docno` is
internal."""
_ELSE = {"query_id": "query question userinput querytext id", "doc_id": "id doc document"}
"""Names that count if no other fits. Except for `id`, such a field may hold the query's text."""
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
"""The role (run or judgements) of each field that holds lists or objects of documents."""
TEXTS: dict[str, str] = {
    **dict.fromkeys(["retrievedcontexts", "retrievedtexts", "retrievedpassages", "contexts"], RUN),
    **dict.fromkeys(["referencecontexts", "expectedcontexts", "goldcontexts"], JUDGED),
}
"""The role of each field that holds a list of document texts."""
LISTS = ROLES | TEXTS
NUMBERS = {RUN: {"scores", "retrievedscores"}, JUDGED: {"grades", "relevances", "labels"}}
"""Fields whose lists of numbers run parallel to the lists of documents, by role."""


def plain(name: str) -> str:
    """Return the letters and digits of a name in lower case, so that `corpus-id`, `corpus_id` and
    `corpusId` are equal."""
    return re.sub("[^a-z0-9]", "", name.lower())


def column_of(name: str) -> str:
    """Return the column that a name means, in any spelling; otherwise, the `plain` name."""
    found = (of for table in (_COLUMNS, _ELSE) for of, names in table.items() if _in(name, names))
    return next(found, plain(name))


def columns(names: Iterable[str]) -> dict[str, str]:
    """Return the name in the file for each column that the names mean. If several names mean
    relevance or score, none counts."""
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
    """Return the first column that rows need but lack; empty if they are complete."""
    found = {*found}
    needed = ["query_id", "doc_id", *["score, rank or relevance"] * (not found & _NUMBERS)]
    return next((name for name in needed if name not in found), "")


def asks(names: Iterable[str]) -> bool:
    """Return whether one of the names can only mean the id of a query."""
    return any(_in(name, _COLUMNS["query_id"]) for name in names)


def has_lists(names: Iterable[str]) -> bool:
    """Return whether the columns contain lists of documents, and none a single document."""
    called = [*names]
    return "doc_id" not in columns(called) and any(plain(name) in LISTS for name in called)


def may_be_text(name: str) -> bool:
    """Return whether a column of queries may contain their texts."""
    return plain(name) in _ELSE["query_id"].split()[:-1]


def is_beir(found: Mapping[str, str]) -> bool:
    """Return whether these are BEIR's names, among which `score` means a grade."""
    return plain(found.get("doc_id", "")) == "corpusid" and not {"relevance", "rank"} & {*found}


def _in(name: str, names: str) -> bool:
    return plain(name) in names.split()

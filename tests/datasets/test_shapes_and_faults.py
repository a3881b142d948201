"""Every shape of file with every fault: the same rows as TREC's file, or one sentence."""

import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.base.errors import BeirscopeError
from compute.datasets.qrels import read_qrels
from compute.evaluate.runs import canonical
from tests.support.ranked_lists import read_trec

SEED, LARGE = 45, 100_000
Row = tuple[str, str, float]
"""Query, document, and score or grade; of a query the highest score comes first."""
Rows = Sequence[Row]


def by_query(rows: Rows) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, document, number in rows:
        found.setdefault(query, {})[document] = number
    return found


def ranked(rows: Rows, first: int) -> list[tuple[str, str, int, float]]:
    places: dict[str, int] = {}
    found = []
    for query, document, number in rows:
        places[query] = places.get(query, first - 1) + 1
        found.append((query, document, places[query], number))
    return found


@dataclass(frozen=True)
class Options:
    """How a file is written."""

    first: int = 1
    """The first rank."""
    without: int | None = None
    """The column that is missing."""
    empty: str = ""
    """A query without any document."""


def table(names: Sequence[str], between: str, *, head: bool = True) -> Callable[..., str]:
    """Lines of columns: q, d, r (rank), s (score or grade), other words as they are."""

    def write(rows: Rows, how: Options) -> str:
        keep = [place for place in range(len(names)) if place != how.without]
        lines = [between.join(names[place].partition("=")[0] for place in keep)] if head else []
        for query, document, rank, number in ranked(rows, how.first):
            told = {"q": query, "d": document, "r": str(rank), "s": repr(number)}
            every = [told.get(name.partition("=")[2], name.partition("=")[2]) for name in names]
            lines.append(between.join(every[place] for place in keep))
        return "".join(f"{line}\n" for line in lines)

    return write


def objects(names: dict[str, str], *, array: bool = False) -> Callable[..., str]:
    """Rows as JSON objects: over lines, or in an array."""

    def write(rows: Rows, how: Options) -> str:
        found = []
        for query, document, rank, number in ranked(rows, how.first):
            told = {"q": query, "d": document, "r": rank, "s": number}
            keys = [key for place, key in enumerate(names) if place != how.without]
            found.append({key: told[names[key]] for key in keys})
        return json.dumps(found) if array else "".join(f"{json.dumps(one)}\n" for one in found)

    return write


def lists(query: str, documents: str, *, grades: str = "") -> Callable[..., str]:
    """A row for each query, with the list of its documents."""

    def write(rows: Rows, how: Options) -> str:
        every = by_query(rows) | ({how.empty: {}} if how.empty else {})
        found: list[dict[str, Any]] = []
        for name, docs in every.items():
            one: dict[str, Any] = {query: name, documents: [*docs]}
            one |= {grades: [*docs.values()]} if grades else {}
            found.append({key: one[key] for n, key in enumerate(one) if n != how.without})
        return json.dumps(found)

    return write


def nested(wrap: Callable[[dict[str, Any]], Any]) -> Callable[..., str]:
    def write(rows: Rows, how: Options) -> str:
        return json.dumps(wrap(by_query(rows) | ({how.empty: {}} if how.empty else {})))

    return write


def details(every: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The answer of _rank_eval."""

    def hit(document: str, score: float) -> dict[str, Any]:
        return {"hit": {"_index": "i", "_id": document, "_score": score}, "rating": None}

    return {"details": {q: {"hits": [hit(*one) for one in d.items()]} for q, d in every.items()}}


def ratings(every: dict[str, dict[str, float]]) -> dict[str, Any]:
    """OpenSearch's judgements."""
    found = [
        {"query": q, "ratings": [{"docId": d, "rating": str(n)} for d, n in docs.items()]}
        for q, docs in every.items()
    ]
    return {"judgmentRatings": found}


def parquet(names: Sequence[str]) -> Callable[..., bytes]:
    def write(rows: Rows, how: Options) -> bytes:
        columns = list(zip(*rows, strict=True))
        kept = [place for place in range(3) if place != how.without]
        file = io.BytesIO()
        named = {names[place]: pa.array(columns[place]) for place in kept}
        pq.write_table(pa.table(named), file)
        return file.getvalue()

    return write


RUNS: dict[str, Callable[..., str | bytes]] = {
    "TREC": table(["=q", "=Q0", "=d", "=r", "=s", "=tag"], " ", head=False),
    "MS MARCO": table(["=q", "=d", "=r"], "\t", head=False),
    "Tevatron": table(["=q", "=d", "=s"], "\t", head=False),
    "ColBERT": table(["=q", "=d", "=r", "=s"], "\t", head=False),
    "PyTerrier": table(["qid=q", "docno=d", "rank=r", "score=s"], ","),
    "CSV": table(["query_id=q", "doc_id=d", "score=s"], ","),
    "TSV": table(["topic=q", "pid=d", "rank=r"], "\t"),
    "JSONL": objects({"qid": "q", "docid": "d", "score": "s"}),
    "JSON rows": objects(
        {"query-id": "q", "corpus-id": "d", "score": "s", "rank": "r"}, array=True
    ),
    "BEIR": nested(lambda every: every),
    "MTEB": nested(lambda every: {"mteb_model_meta": {"name": "x"}, "default": {"test": every}}),
    "LlamaIndex": lists("query_id", "retrieved_ids"),
    "Ragas": lists("user_input", "retrieved_context_ids"),
    "HAKARI": nested(
        lambda every: {
            "artifacts": {
                "top_rankings": [{"query_id": q, "corpus_ids": [*d]} for q, d in every.items()]
            }
        }
    ),
    "_rank_eval": nested(details),
    "Parquet": parquet(["qid", "docno", "score"]),
}
JUDGED: dict[str, Callable[..., str | bytes]] = {
    "TREC": table(["=q", "=0", "=d", "=s"], " ", head=False),
    "BEIR": table(["query-id=q", "corpus-id=d", "score=s"], "\t"),
    "Quepid": table(["query=q", "docid=d", "rating=s"], ","),
    "RankLib": lambda rows, how: "".join(f"{n} qid:{q} 1:0.5 # {d}\n" for q, d, n in rows),
    "CSV": table(["qid=q", "docno=d", "label=s"], ","),
    "JSONL": objects({"qid": "q", "pid": "d", "grade": "s"}),
    "golden set": lists("id", "expected_ids", grades="grades"),
    "OpenSearch": nested(ratings),
    "Parquet": parquet(["qid", "docno", "relevance"]),
}
BY_RANK = {"MS MARCO", "TSV", "LlamaIndex", "Ragas", "HAKARI"}
"""Runs without scores."""
FAULTS = (
    "none",
    "one query",
    "leading zeros",
    "mixed ids",
    "ranks from 0",
    "duplicate rows",
    "NaN",
    "empty list",
    "BOM",
    "CRLF",
    "blank lines",
    "column 0 missing",
    "column 1 missing",
    "column 2 missing",
    "column 3 missing",
)
MUST_STAY = {"none", "one query", "leading zeros", "mixed ids", "BOM", "CRLF", "blank lines"}
WRONG = {"NaN", *FAULTS[-4:]}
"""Faults that no file may survive that has them."""


def made(random_: random.Random, fault: str, *, grades: bool) -> list[Row]:
    """Rows of a few queries with 3 documents or more."""
    n = 1 if fault == "one query" else random_.randint(3, 6)
    names = {"leading zeros": "{:05d}", "mixed ids": "{}"}.get(fault, "q{}")
    queries = [names.format(one) for one in random_.sample(range(1, 999), n)]
    if fault == "mixed ids":
        queries[0] = f"word-{queries[0]}"
    rows: list[Row] = []
    for query in queries:
        size = random_.randint(4, 8)
        form = "{:06d}" if fault == "leading zeros" else "d{}"
        docs = [form.format(one) for one in random_.sample(range(1, 9_999), size)]
        if fault == "mixed ids":
            docs[0] = docs[0].removeprefix("d")
        scores = sorted({round(random_.uniform(1, 30), 4) + 1e-7 for _ in docs}, reverse=True)
        numbers = [random_.randint(0, 3) for _ in docs] if grades else scores
        rows += zip([query] * size, docs, numbers, strict=False)
    return rows


def spoilt(write: Callable[..., str | bytes], rows: list[Row], fault: str) -> bytes:
    """The file with its fault."""
    how = Options(
        first=0 if fault == "ranks from 0" else 1,
        without=int(fault.split()[1]) if fault.endswith("missing") else None,
        empty="q-empty" if fault == "empty list" else "",
    )
    if fault == "NaN":
        rows = [*rows[:2], (rows[2][0], rows[2][1], float("nan")), *rows[3:]]
    if fault == "duplicate rows":
        rows = [*rows, rows[1]]
    content = write(rows, how)
    found = content if isinstance(content, bytes) else content.encode()
    if isinstance(content, str):
        found = b"\xef\xbb\xbf" + found if fault == "BOM" else found
        found = found.replace(b"\n", b"\r\n") if fault == "CRLF" else found
        found = found.replace(b"\n", b"\n\n") if fault == "blank lines" else found
    return found


def wanted_of_run(rows: list[Row], shape: str) -> list[tuple[str, str, float]]:
    found = [(q, d, -float(rank) if shape in BY_RANK else s) for q, d, rank, s in ranked(rows, 1)]
    return sorted(found)


def run_of(file: Path) -> list[tuple[str, str, float]]:
    _, hits = read_trec(file, any_tag=True)
    frame = canonical(hits, depth=1000, drop_self=False).frame
    return sorted(frame[["query_id", "doc_id", "score"]].itertuples(index=False, name=None))


def judged_of(file: Path) -> list[tuple[str, str, float]]:
    return sorted(read_qrels(file).itertuples(index=False, name=None))


def refused(read: Callable[[Path], Any], file: Path) -> bool:
    """Whether one sentence that names the file is what comes of it."""
    try:
        read(file)
    except BeirscopeError as error:
        assert str(file) in str(error) and "\n" not in str(error), error
        return True
    return False


SURVIVED = {
    # The rank that is left makes the scores, and expected documents without grades have 1.
    ("JSON rows", "column 2 missing"),
    ("PyTerrier", "column 2 missing"),
    ("PyTerrier", "column 3 missing"),
    ("JSON rows", "column 3 missing"),
    ("ColBERT", "column 2 missing"),
    ("ColBERT", "column 3 missing"),
    ("golden set", "column 2 missing"),
    # Three columns that are said to be judgements.
    ("TREC", "column 0 missing"),
    ("TREC", "column 1 missing"),
}
OTHER = {
    ("judgements", "golden set", "column 2 missing"),
    # Its second column is 0 and becomes the query.
    ("judgements", "TREC", "column 0 missing"),
}
"""Whose rows are right and others than those of the whole file."""
KINDS = [("run", shape) for shape in RUNS] + [("judgements", shape) for shape in JUDGED]


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_every_fault_gives_the_rows_of_trec_or_one_sentence(
    tmp_path: Path, kind: str, shape: str
) -> None:
    """16 shapes of runs and 9 of judgements, each with 15 faults: 375 files."""
    grades = kind == "judgements"
    write = (JUDGED if grades else RUNS)[shape]
    own, other = (judged_of, run_of) if grades else (run_of, judged_of)
    for fault in FAULTS:
        rows = made(random.Random(f"{SEED} {shape} {fault}"), fault, grades=grades)
        file = tmp_path / fault
        file.write_bytes(content := spoilt(write, rows, fault))
        same = content == spoilt(write, rows, "none")
        wanted = sorted(rows) if grades else wanted_of_run(rows, shape)
        if fault in MUST_STAY or same:
            assert own(file) == wanted, fault
        elif fault in WRONG and (shape, fault) not in SURVIVED:
            assert refused(own, file), fault
        elif (kind, shape, fault) not in OTHER and not refused(own, file):
            assert places(own(file)) == places(wanted), fault
        # A ranking never becomes judgements, nor the other way round.
        assert refused(other, file), fault


def places(rows: list[Row]) -> list[Row]:
    """Rows with the place of each number in its query: ranks from 0 are scores of another size."""
    found = []
    for query, docs in by_query(rows).items():
        order = sorted({*docs.values()})
        found += [(query, doc, order.index(number)) for doc, number in docs.items()]
    return sorted(found)


@pytest.mark.long
@pytest.mark.parametrize("shape", ["TREC", "MS MARCO", "CSV", "JSONL", "BEIR", "Parquet"])
def test_a_hundred_thousand_queries_are_read_the_same(tmp_path: Path, shape: str) -> None:
    rows = [(f"q{n}", f"d{(n * 7 + k) % LARGE}", 9.5 - k) for n in range(LARGE) for k in range(3)]
    file = tmp_path / "large"
    content = RUNS[shape](rows, Options())
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run_of(file) == wanted_of_run(rows, shape)
    assert refused(judged_of, file)

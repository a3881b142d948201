"""Files that were valid until they were mangled, for every reader.

To run it: `python -m tests.support.fuzzing`.

A reader gives a value that satisfies its contract, or raises a BeirscopeError of one line; and
what `check` refuses is what an import refuses. Runs for $BEIRSCOPE_FUZZ_SECONDS (default 600).
"""

import gzip
import io
import itertools
import math
import os
import sys
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compute.base import settings as settings_module
from compute.base.errors import BeirscopeError
from compute.base.printable import printable
from compute.datasets.layout import files, root
from compute.datasets.qrels import read_qrels
from compute.datasets.reading import open_path
from compute.datasets.without_documents import JudgedQueries
from compute.evaluate import runs
from compute.intake import doctor
from compute.judgements import exchange
from tests.support.ranked_lists import read_trec
from tests.support.tiny import write_tiny

ODD = (
    *(b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\x1b[2J", b"\x85", b"\xe2\x80\xa8"),
    *(b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"#", b'"', b"'", b",", b"\\", b"{", b"]"),
    *(b"nan", b"-inf", b"1e999", b"1e-999", b"0x1p3", b"1_0", b"+1", b"-0", b"01", b"1.0", b"-1"),
    *(b"9" * 30, b"1" * 5000, b"\xd9\xa1", b"null", b"NA", b"true", b"[]", b"{}", b'"\\ud800"'),
    *(b"[" * 3000, b'{"_id":' * 50, b'"_id": 7', b'"text": null', b"../../x", b"d" * 70_000),
    *(b"q1", b"d1", b"q9", b"query-id\tcorpus-id\tscore\n", b"<x>", b"PK\x03\x04", b"\x1f\x8b"),
)
RUN = b"q1 Q0 d2 1 2.5 sys\nq1 Q0 d1 2 1.5 sys\n# remark\n01 Q0 d1 1 3 sys\nq2 Q0 d3 0 3 sys\n"
QRELS = b"q1 0 d1 1\nq1 0 d2 0\n\nq2 0 d1 2\n"
BEIR_QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td 2\t0\nq2\td1\t2\n"
TEXTS = b"q1\tships in the harbour\nq2\tcrossing the river\n"
JSON_TEXTS = b'{"_id": "q1", "text": "ships"}\n{"_id": "q2", "text": "river", "metadata": {}}\n'
CSV = (
    b"query_id,doc_id,relevance,person,source,time,unsure,note\n"
    b'q1,d9,2,ada,person,2026-01-02T03:04:05+00:00,0,"a, b"\nq1,d8,,ada,withdrawn,,,\n'
)
TOML = b'depth = 100\nthreads = 2\njava_memory = "1g"\noperators = ["a@b.c"]\nsign_in = false\n'
SHOWN = 1000
"""Characters of an error, its path not counted, that still are one clear sentence."""


@st.composite
def mangled(draw: st.DrawFn, valid: tuple[bytes, ...]) -> bytes:
    """Valid content after a few accidents, perhaps packed or in another encoding."""
    content = draw(st.sampled_from(valid))
    for _ in range(draw(st.integers(0, 4))):
        content = draw(st.sampled_from(_ACCIDENTS))(draw, content)
    return content


def _at(draw: st.DrawFn, content: bytes) -> int:
    return draw(st.integers(0, len(content)))


def _insert(draw: st.DrawFn, content: bytes) -> bytes:
    at = _at(draw, content)
    return content[:at] + draw(st.sampled_from(ODD) | st.binary(max_size=8)) + content[at:]


def _cut(draw: st.DrawFn, content: bytes) -> bytes:
    start, end = sorted((_at(draw, content), _at(draw, content)))
    return content[:start] + content[end:] if draw(st.booleans()) else content[:end]


def _flip(draw: st.DrawFn, content: bytes) -> bytes:
    at = _at(draw, content)
    return (
        content[:at]
        + bytes(b ^ draw(st.integers(1, 255)) for b in content[at : at + 1])
        + (content[at + 1 :])
    )


def _column(draw: st.DrawFn, content: bytes) -> bytes:
    """A column of a line is another, or is not there."""
    lines = content.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    blank = draw(st.sampled_from((b" ", b"\t", b",")))
    columns = lines[at].split(blank)
    place = draw(st.integers(0, len(columns) - 1))
    columns[place : place + 1] = draw(st.lists(st.sampled_from(ODD), max_size=2))
    lines[at] = blank.join(columns)
    return b"\n".join(lines)


def _lines(draw: st.DrawFn, content: bytes) -> bytes:
    """Lines shuffled, or some of them several times."""
    return b"\n".join(draw(st.lists(st.sampled_from(content.split(b"\n")), max_size=8)))


def _whole(draw: st.DrawFn, content: bytes) -> bytes:
    """Another encoding, line end or packing."""
    return draw(
        st.sampled_from(
            (
                content.replace(b"\n", b"\r\n"),
                content.replace(b"\n", b"\r"),
                content.replace(b" ", b"\t"),
                b"\xef\xbb\xbf" + content,
                content.decode("latin-1").encode("utf-16"),
                content.decode("latin-1").encode("utf-16-be"),
                gzip.compress(content, mtime=0),
                pa.compress(content, codec="zstd", asbytes=True),
                content * 3,
            )
        )
    )


_ACCIDENTS = (_insert, _cut, _flip, _column, _column, _lines, _whole)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A zip archive of a collection with odd members, and after that accidents of its own."""
    file = io.BytesIO()
    kind = draw(st.sampled_from((0, 8, 12, 14)))
    with zipfile.ZipFile(file, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name twice
        for name, valid in COLLECTION.items():
            if draw(st.integers(0, 9)):
                content = draw(mangled((valid,))) if not draw(st.integers(0, 3)) else valid
                archive.writestr(f"tiny/{name}", content)
        for name in draw(st.lists(st.sampled_from(_MEMBERS), max_size=2)):
            member = zipfile.ZipInfo(name)
            member.external_attr = draw(st.sampled_from((0, 0o120777, 0o40755))) << 16
            archive.writestr(member, draw(st.sampled_from((b"", b"x", BEIR_QRELS))))
    content = file.getvalue()
    for _ in range(draw(st.integers(0, 3))):
        content = draw(st.sampled_from((_insert, _cut, _flip, _flip)))(draw, content)
    return content


_MEMBERS = (
    *("../x", "/x", "a\\..\\b", "tiny/corpus.jsonl", "corpus.jsonl", "__MACOSX/corpus.jsonl"),
    *("tiny/qrels/dev.tsv", "tiny/qrels/.tsv", "tiny/qrels/\x1b.tsv", "x" * 300, "a/", "\0"),
)
with TemporaryDirectory() as _folder:
    _tiny = write_tiny(Path(_folder) / "tiny")
    COLLECTION = {
        name: (_tiny / name).read_bytes()
        for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    }


def _run(path: Path) -> None:
    _, hits = read_trec(path, any_tag=True)
    assert len(hits)
    assert hits["score"].map(math.isfinite).all()
    assert hits["query_id"].str.len().gt(0).all()
    assert hits["doc_id"].str.len().gt(0).all()
    runs.canonical(hits, depth=10, drop_self=True)


def _qrels(path: Path) -> None:
    judgements = read_qrels(path)
    assert len(judgements)
    assert str(judgements["relevance"].dtype) == "int64"
    assert not judgements.duplicated(["query_id", "doc_id"]).any()


def _csv(path: Path) -> None:
    rows = exchange.from_csv(path, "tiny", "ada").rows
    assert len(rows)
    named = rows[["query_id", "doc_id", "person", "source"]]
    assert (named != "").to_numpy().all()


def _texts(path: Path) -> None:
    judged = path.with_name("judged")
    judged.write_bytes(QRELS)
    try:
        queries = JudgedQueries(judged, path).queries()
    finally:
        judged.unlink()
    assert queries["query_id"].is_unique


def _settings(path: Path) -> None:
    now = settings_module.load({"BEIRSCOPE_HOME": str(path.parent)})
    assert now.depth > 0
    assert now.threads > 0


def _collection(path: Path) -> None:
    """As `import-dataset` reads it, for every split that is there."""
    found = files(path)
    for split in found.splits(root(found)) or ("test",):
        origin = open_path(path, split)
        queries, judgements = origin.queries(), origin.judgements()
        assert set(queries["query_id"]) == set(judgements["query_id"]) or judgements.empty
        ids = [document.doc_id for document in origin.documents()]
        assert len(set(ids)) == len(ids) > 0
        assert all(id.isprintable() or not id.isascii() for id in ids)


class Reader(NamedTuple):
    """What reads a file of a name with mangled content; `check` may know the kind."""

    read: Callable[[Path], None]
    content: st.SearchStrategy[bytes]
    name: str = "file"
    kind: str = ""


CSV_RUN = b'qid,docno,score,query\nq1,d2,2.5,"a, b"\nq1,d1,1.5,a\n01,d1,3,b\n'
JSON_RUN = b'{"q1": {"d2": 2.5, "d1": 1.5}, "01": {"d1": 3}}'
JSONL_RUN = b'{"qid": "q1", "retrieved_ids": ["d2", "d1"]}\n{"qid": 1, "retrieved_ids": ["d1"]}\n'
ROWS_RUN = b'[{"qid": "q1", "docid": "d2", "score": 2.5},\n{"qid": 1, "docid": "d1", "score": 1}]'
THREE_RUN = b"q1\td2\t1\nq1\td3\t2\nq1\td1\t3\n01\td1\t1\n"
SHAPES = (CSV_RUN, JSON_RUN, JSONL_RUN, ROWS_RUN, THREE_RUN)
READERS = {
    "other runs": Reader(_run, mangled(SHAPES), kind="run"),
    "run": Reader(_run, mangled((RUN,)), kind="run"),
    "qrels": Reader(_qrels, mangled((QRELS, BEIR_QRELS)), kind="qrels"),
    "judgements": Reader(_csv, mangled((CSV,))),
    "texts": Reader(_texts, mangled((TEXTS, JSON_TEXTS))),
    "settings": Reader(_settings, mangled((TOML,)), name="settings.toml"),
    "archive": Reader(_collection, archives(), name="tiny.zip", kind="BEIR archive"),
    **{
        name: Reader(_collection, mangled((valid,)), name=name, kind="BEIR folder")
        for name, valid in COLLECTION.items()
    },
}


def hold(reader: Reader, content: bytes) -> None:
    """The property that every reader has on every content."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / reader.name
        if reader.kind == "BEIR folder":
            for member, valid in COLLECTION.items():
                (folder / member).parent.mkdir(exist_ok=True)
                (folder / member).write_bytes(valid)
        path.write_bytes(content)
        read = folder if reader.kind == "BEIR folder" else path
        before = sorted(folder.rglob("*"))
        refused = _refused(reader.read, read)
        if reader.kind:
            report = doctor.check(read)
            if report.kind in (reader.kind, "unreadable"):
                assert report.refused == refused, (report, refused)
            assert all(finding.count > 0 for finding in report.findings)
        assert sorted(folder.rglob("*")) == before


def _refused(read: Callable[[Path], None], path: Path) -> bool:
    try:
        read(path)
    except BeirscopeError as error:
        sentence = str(error).replace(str(path), "FILE")
        assert sentence
        assert len(printable(sentence)) <= SHOWN, sentence
        return True
    return False


def _round(name: str, options: settings, cases: Counter[str]) -> None:
    @options
    @given(READERS[name].content)
    def cover(content: bytes) -> None:
        cases[name] += 1
        hold(READERS[name], content)

    cover()


def main() -> int:
    """Rounds of fresh cases over all readers until the time is over; prints their number."""
    end = time.monotonic() + float(os.environ.get("BEIRSCOPE_FUZZ_SECONDS") or 600)
    cases: Counter[str] = Counter()
    options = settings(
        max_examples=200,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    for name in itertools.cycle(READERS):
        if time.monotonic() > end and len(cases) == len(READERS):
            break
        _round(name, options, cases)
    each = ", ".join(f"{name} {count:,}" for name, count in cases.items())
    sys.stdout.write(f"{cases.total():,} cases hold ({each})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`check`: what a folder, archive, run or qrels file holds, and what is wrong with it."""

import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pandas import DataFrame

from compute import runs, trec
from compute.datasets import layout
from compute.datasets.fingerprints import CorpusCount
from compute.datasets.reading import BeirSource
from compute.datasets.records import Document, n_words
from compute.errors import BeirscopeError, Missing, WrongInput
from compute.judgements import read_qrels


@dataclass(frozen=True)
class Finding:
    """One kind of thing found: how often, and the first of them with file and line."""

    what: str
    count: int
    example: str
    refused: bool
    """Whether an import would stop here; the others are worth knowing only."""


@dataclass(frozen=True)
class Report:
    """What lies at a path. `counts` are numbers in the order in which they are worth reading."""

    path: str
    kind: str
    counts: dict[str, float]
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether an import would stop at one of the findings."""
        return any(finding.refused for finding in self.findings)

    def record(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        findings = [asdict(finding) for finding in self.findings]
        return asdict(self) | {"findings": findings, "refused": self.refused}

    def __str__(self) -> str:
        counts = [f"  {name}: {number:,}" for name, number in self.counts.items()]
        findings = [
            f"  {'refused' if finding.refused else 'remark'}: {finding.what},"
            f" {_times(finding)}: {finding.example}"
            for finding in self.findings
        ]
        verdict = "  not fit for import" if self.refused else "  fit for import"
        return "\n".join([f"{self.path}: {self.kind}", *counts, *findings, verdict])


def _times(finding: Finding) -> str:
    return "once" if finding.count == 1 else f"{finding.count:,} times; first"


class Tally:
    """Counts problems by kind and keeps the first sentence of each."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, bool]] = Counter()
        self._examples: dict[tuple[str, bool], str] = {}

    def refuse(self, kind: str, sentence: str) -> None:
        """Count something an import would refuse."""
        self._note(kind, sentence, 1, True)

    def remark(self, kind: str, sentence: str, count: int = 1) -> None:
        """Count something worth knowing; nothing when count is 0."""
        if count:
            self._note(kind, sentence, count, False)

    @contextmanager
    def step(self, kind: str) -> Iterator[None]:
        """An error that ends this step is counted, and the next step goes on."""
        try:
            yield
        except BeirscopeError as error:
            self.refuse(kind, str(error))

    def findings(self) -> tuple[Finding, ...]:
        """What was counted, refusals first."""
        found = [
            Finding(kind, count, self._examples[kind, refused], refused)
            for (kind, refused), count in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda finding: not finding.refused))

    def _note(self, kind: str, sentence: str, count: int, refused: bool) -> None:
        self._counts[kind, refused] += count
        self._examples.setdefault((kind, refused), sentence)


def check(path: Path) -> Report:
    """What lies at the path and what is wrong with it; reads everything and changes nothing.

    A folder or zip archive is read as the BEIR layout (every collection and split in it), a text
    file as a TREC run (6 columns) or qrels (4, or BEIR's 3). Raises Missing for no such path.
    """
    if not path.exists():
        raise Missing(f"{path} does not exist: give a folder, an archive, a run or a qrels file")
    tally, counts = Tally(), {}
    if path.is_dir() or path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
        kind = "BEIR folder" if path.is_dir() else "BEIR archive"
        with tally.step("not the BEIR layout"):
            _check_collections(layout.files(path), counts, tally)
    else:
        kind = _check_text(path, counts, tally)
    return Report(str(path), kind, counts, tally.findings())


def _check_collections(files: layout.Files, counts: dict[str, float], tally: Tally) -> None:
    roots = files.roots()
    if not roots:
        raise WrongInput(f"{files.path} holds no {layout.CORPUS}: it is not in the BEIR layout")
    for root in roots:
        prefix = f"{root}: " if len(roots) > 1 else ""
        splits = files.splits(root)
        if not splits:
            tally.refuse("no qrels", f"{files.where(root)} holds no qrels/<split>.tsv: add one")
        if len(splits) > 1 and "test" not in splits:
            options = " or ".join(f"--split {split}" for split in splits)
            tally.remark("no split test", f"{files.where(root)}: import it with {options}")
        sources = [BeirSource(files, root, split, tally.refuse) for split in splits or ["test"]]
        with tally.step("queries not readable"):
            _check_queries(sources[0], prefix, counts, tally)
        judged: dict[str, str] = {}
        for source in sources if splits else ():
            with tally.step("judgements not readable"):
                judged |= _check_judgements(source, prefix, counts, tally)
        with tally.step("corpus not readable"):
            _check_corpus(sources[0], judged, prefix, counts, tally)


def _check_queries(source: BeirSource, prefix: str, counts: dict[str, float], tally: Tally) -> None:
    queries = source.all_queries()
    words = queries["text"].map(n_words)
    counts[f"{prefix}queries"] = len(queries)
    if len(queries):
        counts[f"{prefix}words per query"] = round(float(words.mean()), 2)
    empty = queries.loc[words == 0, "query_id"]
    if len(empty):
        where = source.files.where(source.query_file)
        tally.remark("empty query", f"{where}: query {empty.iloc[0]!r} has no text", len(empty))


def _check_judgements(
    source: BeirSource, prefix: str, counts: dict[str, float], tally: Tally
) -> dict[str, str]:
    """Counts a split's judgements; gives its judged documents with where they are judged."""
    judgements = source.judgements()
    where = source.files.where(source.qrels)
    name = f"{prefix}{source.split}"
    counts[f"{name} queries"] = judgements["query_id"].nunique()
    counts[f"{name} judgements"] = len(judgements)
    counts |= _levels(judgements, f"{name} relevance")
    again = source.n_repeated_judgements()
    tally.remark("pair judged again", f"{where}: the last judgement of a pair counts", again)
    hopeless = judgements.groupby("query_id")["relevance"].max().le(0)
    if hopeless.any():
        first = hopeless.index[hopeless][0]
        sentence = f"{where}: query {first!r} has no relevant document and scores 0"
        tally.remark("query without relevant document", sentence, int(hopeless.sum()))
    return dict.fromkeys(judgements["doc_id"], where)


def _check_corpus(
    source: BeirSource,
    judged: dict[str, str],
    prefix: str,
    counts: dict[str, float],
    tally: Tally,
) -> None:
    corpus = CorpusCount(judged)
    kinds: Counter[str] = Counter()
    words = 0
    where = source.files.where(source.corpus)
    for document in corpus.watch(source.documents()):
        words += n_words(document.title, document.text)
        what = _emptiness(document)
        kinds[what] += 1
        if what:
            tally.remark(what, f"{where}: document {document.doc_id!r}")
    counts[f"{prefix}documents"] = corpus.n_documents
    if corpus.n_documents:
        counts[f"{prefix}words per document"] = round(words / corpus.n_documents, 2)
    if corpus.missing:
        first = next(doc_id for doc_id in judged if doc_id in corpus.missing)
        sentence = f"{judged[first]}: document {first!r} is judged but not in the corpus"
        tally.remark("judged document not in the corpus", sentence, len(corpus.missing))


def _emptiness(document: Document) -> str:
    if document.text.strip():
        return ""
    return "document with a title only" if document.title.strip() else "empty document"


def _check_text(path: Path, counts: dict[str, float], tally: Tally) -> str:
    lines = [line for line in trec.lines(path, 1000) if line.strip()]
    # Where every line begins with #, these are ids and no comments.
    first = next(iter([line for line in lines if not line.startswith("#")] or lines), "")
    if len(first.split()) == 6:
        with tally.step("not a run"):
            _check_run(path, counts, tally)
        return "TREC run"
    if first.lstrip().startswith("<"):
        raise WrongInput(
            f"{path} is XML, such as topics, not a run or qrels: queries go into a queries.jsonl,"
            ' lines of {"_id": …, "text": …}'
        )
    if len(first.split()) == 4 or len(first.split("\t")) == 3:
        with tally.step("not qrels"):
            _check_qrels(path, counts)
        return "qrels"
    raise WrongInput(
        f"{path} is no zip archive and begins neither like a TREC run (6 columns) nor like qrels"
        " (4, or BEIR's 3 between tabs): give one of these or a folder"
    )


def _check_run(path: Path, counts: dict[str, float], tally: Tally) -> None:
    _, hits = runs.read_trec(path, any_tag=True)
    per_query = hits.groupby("query_id", sort=False).size()
    counts |= {
        "hits": len(hits),
        "queries": len(per_query),
        "documents": hits["doc_id"].nunique(),
        "shortest list": int(per_query.min()),
        "longest list": int(per_query.max()),
    }
    with tally.step("several tags"):
        runs.read_trec(path)
    _remark_hits(path, hits, ["query_id", "doc_id"], "document twice in a list", tally)
    single = hits.assign(score=hits["score"].astype("float32"))
    _remark_hits(path, single, ["query_id", "score"], "tied with a hit above", tally)
    same = hits[hits["query_id"] == hits["doc_id"]]
    if len(same):
        sentence = f"{path}: query {same['query_id'].iloc[0]!r} finds itself"
        tally.remark("document named like its query", sentence, len(same))


def _remark_hits(path: Path, hits: DataFrame, key: list[str], what: str, tally: Tally) -> None:
    again = hits[hits.duplicated(key)]
    if len(again):
        query_id, doc_id = again.iloc[0][["query_id", "doc_id"]]
        tally.remark(what, f"{path}: query {query_id!r}, document {doc_id!r}", len(again))


def _check_qrels(path: Path, counts: dict[str, float]) -> None:
    judgements = read_qrels(path)
    counts |= {
        "judgements": len(judgements),
        "queries": judgements["query_id"].nunique(),
        "documents": judgements["doc_id"].nunique(),
    }
    counts |= _levels(judgements, "relevance")


def _levels(judgements: DataFrame, name: str) -> dict[str, float]:
    levels = judgements["relevance"].value_counts().sort_index()
    return {f"{name} {level}": int(count) for level, count in levels.items()}

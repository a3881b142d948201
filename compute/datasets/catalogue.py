"""The catalogue of datasets, derived from data/published, with facts that no paper reports."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import PROJECT
from compute.base.words import near
from compute.datasets.pydocs import LIBRARIES

PUBLISHED = PROJECT / "data" / "published"

DROP_SELF = {"arguana", "quora"}
"""Datasets whose queries are documents of the corpus: a system must not return the query itself.
BEIR's code drops equal ids on every dataset; on the others such a match is a coincidence."""

DEFAULT_SPLIT = {"msmarco": "dev"}
"""The split that a name without one means, if it is not `test`."""

RELEVANCE = {"msmarco/test": "4-level"}
LEVELS = {"msmarco/test": 2}
"""The lowest grade of a relevant document, if it is not 1."""

NOTES = {
    "webis-touche2020": "Statistics of BEIR v1; v4 counts 19.0 relevant documents per query,"
    " on other judgements.",
    "robust04": "Statistics of BEIR v4.",
    "msmarco": "Scored on dev; the papers' tables call it test.",
    "msmarco/test": "TREC Deep Learning 2019, graded judgements.",
    "msmarco-pl/test": (
        " The table lists the 6,980 queries of dev, but the paper's scores are on the test split"
        " (TREC Deep Learning 2019)."
    ),
    "cqadupstack-pl": " Its 547K is most likely a typo for 457K.",
}

HAND_ON = ("CC BY", "Apache", "BSD", "GPL", "own")
"""First words of licences that allow redistributing texts with their source and terms. For an own
dataset, the owner decides."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*|unknown")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")


@dataclass(frozen=True)
class Dataset:
    """A dataset and its split, with the papers' facts about it. Unknown numbers are None."""

    name: str
    title: str
    collection: str
    """Name of the corpus, its documents and its archive, which all its splits share."""
    split: str
    language: str
    task: str
    domain: str
    licence: str
    relevance: str
    group: str
    """BEIR, BEIR-PL, PolEval, Open-domain QA, PyDocs or own."""
    drop_self: bool = False
    """Whether a document whose id equals the query's is dropped from rankings."""
    zero_shot: bool = False
    """Whether it counts in the zero-shot average. Parts and further splits do not."""
    parts: tuple[str, ...] = ()
    """The datasets over whose means it averages. A dataset with parts has no runs of its own."""
    has_split: bool = True
    """False if it has only published scores, and no split to run on."""
    archive: str | None = None
    md5: str | None = None
    public: bool = True
    """False if the licence forbids offering the documents for download."""
    homepage: str = ""
    has_title: bool | None = None
    n_documents: int | None = None
    n_queries: int | None = None
    train_pairs: int | None = None
    relevant_per_query: float | None = None
    query_words: float | None = None
    document_words: float | None = None
    """Mean number of words per query and per document (title and text)."""
    note: str = ""
    level: int = 1
    """Lowest grade that counts as relevant in `AP(rel=2)@100`."""

    @property
    def may_hand_on_texts(self) -> bool:
        """Whether its licence is known to allow republishing its texts."""
        return self.public and self.licence.startswith(HAND_ON)

    def refuse_parts(self) -> None:
        """Raise WrongInput, naming the first part, if the dataset has parts."""
        if self.parts:
            raise WrongInput(f"{self.name} has parts: name one of them, such as {self.parts[0]}")

    def record(self) -> dict[str, Any]:
        """Return the dataset as JSON values, which `from_record` reads back."""
        found = asdict(self) | {"parts": list(self.parts)}
        # Level 1 is left out, so that records from before levels existed stay equal.
        return {name: value for name, value in found.items() if (name, value) != ("level", 1)}

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "Dataset":
        """Return the dataset of a record. Raises WrongInput for unknown or missing fields."""
        known = {field.name for field in fields(Dataset)}
        if unknown := set(record) - known:
            raise WrongInput(f"dataset record with unknown fields {sorted(unknown)}: remove them")
        try:
            values: dict[str, Any] = {**record, "parts": tuple(record.get("parts", ()))}
            return Dataset(**values)
        except TypeError as error:
            raise WrongInput(f"incomplete dataset record ({error}): import it again") from None


def catalogue(rows: Iterable[Dataset]) -> Mapping[str, Dataset]:
    """Return the datasets by name. Raises Conflict for a duplicate name, and WrongInput for an
    archive without md5."""
    named: dict[str, Dataset] = {}
    for row in rows:
        if row.name in named:
            raise Conflict(f"two datasets are called {row.name!r}: rename one")
        if row.archive and not row.md5:
            raise WrongInput(f"{row.name} has an archive without an md5 checksum: give both")
        named[row.name] = row
    return MappingProxyType(named)


def dataset(name: str, own: Mapping[str, Dataset] | None = None) -> Dataset:
    """Return the dataset of that name, from the catalogue or the user's own. Raises Missing."""
    known = {**DATASETS, **(own or {})}
    if name in known:
        return known[name]
    raise Missing(f"no dataset {name!r}: {near(name, known)}python -m compute datasets lists all")


def members(name: str) -> tuple[str, ...]:
    """Return the names of a dataset's parts, or only its own name if it has none."""
    return (DATASETS[name].parts if name in DATASETS else ()) or (name,)


def own(
    name: str,
    *,
    title: str = "",
    split: str = "",
    language: str = "en",
    relevance: str = "",
    drop_self: bool = False,
    level: int = 1,
) -> Dataset:
    """Return the record of a user's dataset. `mine/dev` is the split dev of the collection `mine`;
    `drop_self` and `level` as in `Dataset`. Raises WrongInput for a name that cannot be part of an
    address and for an unknown language, and Conflict for a name of the catalogue."""
    if not _LANGUAGE.fullmatch(language):
        raise WrongInput(
            f"language {language[:20]!r}: give an ISO code, such as en or zh, or unknown"
        )
    if not _NAME.fullmatch(name):
        raise WrongInput(f"dataset name {name!r}: use letters, digits, '.', '_' and '-' only")
    collection, _, named_split = name.partition("/")
    # A split of a catalogue collection would replace its documents.
    taken = {part for row in DATASETS.values() for part in (row.name, row.collection)}
    if name in taken or collection in taken:
        raise Conflict(f"{collection!r} is a dataset of the catalogue: choose another name")
    return Dataset(
        name=name,
        title=title or name,
        collection=collection,
        split=split or named_split or "test",
        language=language,
        task="Own collection",
        domain="Own",
        licence="own",
        relevance=relevance,
        group="own",
        drop_self=drop_self,
        level=level,
    )


def _rows(file: str) -> list[dict[str, str]]:
    with (PUBLISHED / file).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


BEIR_ROWS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {row["dataset"]: row for row in _rows("datasets.csv")}
)
"""Facts about each dataset of BEIR, by name: the published statistics, splits and archive (address
and md5), `archive_bytes` (from ir_datasets' list of downloads with the same md5, since BEIR gives
no size) and `terms` (the reason why it cannot be downloaded)."""


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _decimal(text: str) -> float | None:
    return float(text) if text else None


def _statistics(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "n_documents": _whole(row["documents"]),
        "n_queries": _whole(row["test_queries"]),
        "query_words": _decimal(row["avg_query_words"]),
        "document_words": _decimal(row["avg_document_words"]),
    }


def _english(row: Mapping[str, str]) -> Dataset:
    """Return the dataset of BEIR in a row of `datasets.csv`."""
    name = row["dataset"]
    return Dataset(
        name=name,
        title=row["name"],
        collection=name,
        split=DEFAULT_SPLIT.get(name, "test"),
        language="en",
        task=row["task"],
        domain=row["domain"],
        licence=row["licence"],
        relevance=row["relevance"],
        group="BEIR",
        drop_self=name in DROP_SELF,
        zero_shot=row["zero_shot"] == "yes",
        archive=row["archive"] or None,
        md5=row["md5"] or None,
        public=not row["terms"],
        homepage=row["homepage"],
        has_title=row["has_title"] == "yes",
        train_pairs=_whole(row["train_pairs"]),
        relevant_per_query=_decimal(row["avg_relevant_per_query"]),
        note=NOTES.get(name, ""),
        **_statistics(row),
    )


def _further_splits(base: Dataset, splits: Iterable[str], row: Mapping[str, str]) -> list[Dataset]:
    """Return a dataset for each of these splits other than the base's own."""
    return [
        replace(
            base,
            name=f"{base.name}/{split}",
            title=f"{base.title} ({split})",
            split=split,
            relevance=RELEVANCE.get(f"{base.name}/{split}", base.relevance),
            zero_shot=False,
            n_queries=_whole(row["dev_queries"]) if split == "dev" else None,
            relevant_per_query=None,
            query_words=None,
            note=NOTES.get(f"{base.name}/{split}", ""),
            level=LEVELS.get(f"{base.name}/{split}", 1),
        )
        for split in splits
        if split != base.split
    ]


def _with_parts(base: Dataset, forums: Iterable[str]) -> list[Dataset]:
    """Return a dataset that averages over forums, and a dataset for each forum."""
    nothing_printed: dict[str, Any] = dict.fromkeys(
        ("n_documents", "n_queries", "relevant_per_query", "query_words", "document_words")
    )
    parts = [
        replace(
            base,
            name=f"{base.name}/{forum}",
            title=f"{base.title}: {forum}",
            collection=f"{base.name}/{forum}",
            zero_shot=False,
            note="",
            **nothing_printed,
        )
        for forum in forums
    ]
    return [replace(base, parts=tuple(part.name for part in parts)), *parts]


def _beir(forums: list[str]) -> Iterator[Dataset]:
    for row in BEIR_ROWS.values():
        base = _english(row)
        if base.name == "cqadupstack":
            yield from _with_parts(base, forums)
        else:
            yield from (base, *_further_splits(base, row["splits"].split(), row))


def _polish(row: Mapping[str, str], english: Dataset) -> Dataset:
    """Return the BEIR-PL dataset in this row, based on the English one."""
    collection, _, split = row["dataset"].partition("/")
    return replace(
        english,
        name=row["dataset"],
        title=f"{english.title.split(' (')[0]}-PL" + (f" ({split})" if split else ""),
        collection=collection,
        split=split or "test",
        language="pl",
        group="BEIR-PL",
        zero_shot=english.collection != "msmarco",
        parts=(),
        archive=None,
        md5=None,
        homepage="https://huggingface.co/clarin-knext",
        train_pairs=None,
        relevant_per_query=None,
        note=(
            "BEIR-PL's Table 1 gives rounded numbers of documents; BEIR has"
            f" {english.n_documents:,}.{NOTES.get(row['dataset'], '')}"
        ),
        **_statistics(row),
    )


def _beir_pl(english: Mapping[str, Dataset], forums: list[str]) -> Iterator[Dataset]:
    for row in _rows("datasets_pl.csv"):
        base = _polish(row, english[row["dataset"].replace("-pl", "")])
        yield from _with_parts(base, forums) if base.name == "cqadupstack-pl" else [base]


def _others() -> Iterator[Dataset]:
    asked = {row["dataset"]: _whole(row["test_queries"]) for row in _rows("query_counts.csv")}
    for row in _rows("datasets_other.csv"):
        flags = {name: row.pop(name) == "yes" for name in ("zero_shot", "has_split")}
        about: dict[str, Any] = {**row, **flags, "n_queries": asked.get(row["dataset"])}
        yield Dataset(about.pop("dataset"), **about)


def _pydocs() -> Iterator[Dataset]:
    """Yield a dataset for each PyDocs library."""
    for library, (_, homepage) in LIBRARIES.items():
        yield Dataset(
            name=f"pydocs-{library}",
            title=f"PyDocs {library}",
            collection=f"pydocs-{library}",
            split="test",
            language="en",
            task="Related-Function Retrieval",
            domain="Software",
            licence="BSD 3-Clause",
            relevance="Binary",
            group="PyDocs",
            drop_self=True,
            zero_shot=True,
            homepage=homepage,
            has_title=True,
        )


def _everything() -> Iterator[Dataset]:
    named = sorted({row["dataset"] for row in _rows("results.csv")})
    forums = [name.partition("/")[2] for name in named if name.startswith("cqadupstack-pl/")]
    english = list(_beir(forums))
    yield from english
    yield from _beir_pl({row.name: row for row in english}, forums)
    yield from _others()
    yield from _pydocs()


DATASETS: Mapping[str, Dataset] = catalogue(_everything())
"""All datasets named in the papers, and the five PyDocs collections, by name."""


def is_polish(dataset: str) -> bool:
    """Return whether this is the name of a Polish dataset."""
    return dataset.partition("/")[0].endswith("-pl")


def counterpart(dataset: str) -> str:
    """Return the name of the same dataset in the other language: scifact-pl for scifact."""
    name, slash, split = dataset.partition("/")
    other = name.removesuffix("-pl") if is_polish(dataset) else f"{name}-pl"
    return f"{other}{slash}{split}"

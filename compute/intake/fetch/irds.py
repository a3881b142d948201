"""Datasets of the package ir_datasets, if it is installed, imported as the user's own datasets."""

import gzip
import importlib
import json
import shutil
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.files import make_folder
from compute.datasets import catalogue, layout
from compute.datasets.records import NARRATIVES
from compute.intake import imports
from compute.intake.fetch.offers import folder
from compute.intake.fetch.packing import pack
from compute.intake.fetch.partial import alone, publish
from compute.store.loading import BATCH, Bench, Loaded

PREFIX = "irds:"
"""Prefix of this package's names on the command line."""


def fetch(bench: Bench, name: str, *, called: str = "") -> Loaded:
    """Load a dataset with ir_datasets, pack it in the BEIR layout, and import it as `called`.
    Raises Unavailable if the package is missing or fails, Missing for an unknown name, and
    WrongInput if the dataset has no documents, queries or judgements."""
    identifier = name.removeprefix(PREFIX)
    called = called or identifier.strip("/").replace("/", "-")
    catalogue.own(called)
    found = _load(_package(), identifier)
    to = folder(bench.settings) / f"{called}.zip"
    gathered = to.with_name(f".{to.name}.files")
    packed = to.with_name(f".{to.name}.part")
    with alone(to):
        try:
            members = _gather(bench, found, gathered, identifier)
            pack(packed, members, {"ir_datasets": identifier}, lambda _: None)
            publish(packed, to)
        finally:
            shutil.rmtree(gathered, ignore_errors=True)
            packed.unlink(missing_ok=True)
        # TREC's Deep Learning tracks count grade 1 as not relevant.
        level = 1 + ("/trec-dl-" in identifier)
        return imports.import_dataset(bench, called, path=to, level=level)


def _package() -> ModuleType:
    try:
        return importlib.import_module("ir_datasets")
    except ImportError:
        raise Unavailable(
            "names that begin with irds: need the package ir_datasets: pip install ir_datasets,"
            " then fetch again"
        ) from None


def _load(package: ModuleType, identifier: str) -> Any:
    """Return the package's dataset. Raises Missing, or WrongInput if it lacks a part."""
    try:
        found = package.load(identifier)
    except KeyError:
        raise Missing(
            f"ir_datasets has no dataset {identifier!r}: https://ir-datasets.com lists them"
        ) from None
    for what, has in (
        ("documents", found.has_docs()),
        ("queries", found.has_queries()),
        ("judgements", found.has_qrels()),
    ):
        if not has:
            raise WrongInput(
                f"{identifier} of ir_datasets has no {what}: name a part that has them"
            )
    return found


def _gather(bench: Bench, found: Any, to: Path, identifier: str) -> list[tuple[str, Path]]:
    """Write the BEIR layout's three files, compressed; return their archive names and paths."""
    header = "query-id\tcorpus-id\tscore"
    judgements = (f"{q.query_id}\t{q.doc_id}\t{q.relevance}" for q in found.qrels_iter())
    contents = {
        layout.CORPUS: map(_document, _counted(bench, found.docs_iter())),
        layout.QUERIES: map(_query, found.queries_iter()),
        "qrels/test.tsv": chain([header], judgements),
    }
    make_folder(to)
    members = []
    for number, (name, lines) in enumerate(contents.items()):
        file = to / f"{number}.gz"
        try:
            with gzip.open(file, "wt", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{line}\n" for line in lines)
        except (OSError, RuntimeError, ValueError) as error:
            why = str(error).strip().partition("\n")[0][:200]
            raise Unavailable(f"ir_datasets could not load {identifier}: {why}") from error
        members.append((name, file))
    return members


def _counted(bench: Bench, documents: Iterable[Any]) -> Iterator[Any]:
    for number, document in enumerate(documents, 1):
        if number % BATCH == 0:
            bench.progress(number, 0, "documents")
        yield document


def _document(document: Any) -> str:
    title = getattr(document, "title", None) or ""
    return _record(document.doc_id, title=title, text=_text(document))


def _query(query: Any) -> str:
    told = {name: getattr(query, name, None) for name in NARRATIVES}
    told = {name: words for name, words in told.items() if isinstance(words, str)}
    return _record(query.query_id, text=_text(query), **told)


def _text(record: Any) -> str:
    text = getattr(record, "text", None)
    return text if isinstance(text, str) else record.default_text()


def _record(identifier: str, **fields: str) -> str:
    return json.dumps({"_id": identifier, **fields}, ensure_ascii=False)

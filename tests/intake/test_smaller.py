"""A sample of a collection: judged documents kept, others drawn with a seed."""

import json
import re
from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.intake import imports, smaller
from compute.recompute import run
from compute.store.loading import Loaded
from tests.support import filled
from tests.support.tiny import QUERIES, write_tiny


def documents_of(loaded: Loaded) -> set[str]:
    assert loaded.documents is not None
    return set(run.read(loaded.documents)["doc_id"])


def test_judged_documents_stay_and_the_seed_draws_the_others(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    source = write_tiny(tmp_path / "tiny")
    told = [json.dumps(query | {"narr": f"of {query['_id']}"}) for query in QUERIES[:2]]
    (source / "queries.jsonl").write_text("\n".join([*told, json.dumps(QUERIES[2])]), "utf-8")
    with (source / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        corpus.writelines(
            f'{{"_id": "more{n}", "title": "", "text": "more {n}"}}\n' for n in range(9)
        )
    tiny = imports.import_dataset(bench, "tiny", path=source).dataset
    whole = run.stored_dataset(bench.store, tiny)
    judged = set(run.read(whole.judgements)["doc_id"])
    every = documents_of(whole)
    n = len(judged & every) + 4
    assert n < len(every)
    made = smaller.sample(bench, tiny, n, seed=3)
    assert made.dataset.name == f"tiny-{n}-seed3"
    documents = documents_of(made)
    assert judged & every < documents < every and len(documents) == n
    assert made.narratives and whole.narratives
    assert made.narratives.fingerprint == whole.narratives.fingerprint
    again = smaller.sample(bench, tiny, n, seed=3, name="again")
    assert documents_of(again) == documents
    same = ["query_id", "doc_id", "relevance"]
    assert run.read(made.judgements)[same].equals(run.read(whole.judgements)[same])


def test_fewer_than_the_judged_documents_are_refused(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    tiny = filled.take(bench, {})
    with pytest.raises(WrongInput, match=re.escape("1 documents of tiny: ask for")):
        smaller.sample(bench, tiny, 1)

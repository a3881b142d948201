"""The repositories of BEIR-PL on the Hugging Face hub, as listed on its pages. A collection's
repository has `corpus.jsonl.gz` and `queries.jsonl.gz` (and a loading script that is never run). A
second one, named `…-qrels`, has whichever of `train.tsv`, `dev.tsv` and `test.tsv` exist. Each
forum of CQADupStack has its own two repositories."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from compute.datasets import Dataset

OWNER = "clarin-knext"
LATEST = "main"
_RENAMED = {"webis-touche2020": "touche2020", "dbpedia-entity": "dbpedia"}

REVISIONS: Mapping[str, str] = MappingProxyType(
    {
        "arguana-pl": "63fc86750af76253e8c760fc9e534bbf24d260a2",
        "cqadupstack-android-pl": "75bac9224f0f376e82c89f2c95ab62a8a3eeb2f2",
        "dbpedia-pl": "76afe41d9af165cc40999fcaa92312b8b012064a",
        "dbpedia-pl-qrels": "b9714b6877cf2b809e001cd53dbd51ebe1c093b3",
        "fiqa-pl": "2e535829717f8bf9dc829b7f911cc5bbd4e6608e",
        "hotpotqa-pl": "a0bd479ac97b4ccb5bd6ce320c415d0bb4beb907",
        "msmarco-pl": "8634c07806d5cce3a6138e260e59b81760a0a640",
        "msmarco-pl-qrels": "e09315afdc93b37afb2c3f648d1719c3f1ec0364",
        "nfcorpus-pl": "9a6f9567fda928260afed2de480d79c98bf0bec0",
        "nq-pl": "f171245712cf85dd4700b06bef18001578d0ca8d",
        "quora-pl": "0be27e93455051e531182b85e85e425aba12e9d4",
        "scidocs-pl": "45452b03f05560207ef19149545f168e596c9337",
        "scifact-pl": "47932a35f045ef8ed01ba82bf9ff67f6e109207e",
        "touche2020-pl-qrels": "2602886ab11508fd35d7e5dddd8a710695f53a7d",
        "trec-covid-pl": "81bcb408f33366c2a20ac54adafad1ae7e877fdd",
    }
)
"""Commits known from MTEB's list of tasks or from public addresses of the hub. Any other repository
is downloaded from `main`, and the archive records the commit."""


class Repository(NamedTuple):
    """A dataset repository on the hub, and its commit or branch."""

    name: str
    revision: str


class Collection(NamedTuple):
    """The repositories of a collection; `part` is its folder in the archive, or empty."""

    part: str
    texts: Repository
    judgements: Repository


def collections(rows: Iterable[Dataset]) -> list[Collection]:
    """Return the collections in an archive: a single one, or one for each forum."""
    found: dict[str, Collection] = {}
    for row in rows:
        base, _, part = row.collection.partition("/")
        stem = base.removesuffix("-pl")
        if row.parts:
            continue
        name = f"{_RENAMED.get(stem, stem)}{f'-{part}' if part else ''}-pl"
        found[part] = Collection(part, _repository(name), _repository(f"{name}-qrels"))
    return list(found.values())


def address(rows: Iterable[Dataset]) -> str:
    """Return the page of the collection or, if there are several, of their owner."""
    found = collections(rows)
    if len(found) == 1:
        return f"https://huggingface.co/datasets/{found[0].texts.name}"
    return f"https://huggingface.co/{OWNER}"


def _repository(name: str) -> Repository:
    return Repository(f"{OWNER}/{name}", REVISIONS.get(name, LATEST))

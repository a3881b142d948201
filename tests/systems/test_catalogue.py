import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from compute.base.errors import Conflict, WrongInput
from compute.base.settings import PROJECT
from compute.systems import SYSTEMS, System, catalogue, system
from compute.systems.catalogue import RAN
from compute.systems.checkpoints import from_text
from compute.systems.lexical.bm25 import ANALYSERS, Bm25
from compute.systems.lexical.sparse import Sparse
from compute.systems.searcher import Combiner, Searcher


def test_every_published_system_has_a_row_in_the_published_order() -> None:
    with (PROJECT / "data" / "published" / "systems.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        published = [row["system"] for row in csv.DictReader(file)]
    assert list(SYSTEMS)[: len(published)] == published
    assert len(published) == 31


def test_rows_take_their_facts_from_the_published_list() -> None:
    assert SYSTEMS["bm25-multifield"].title == "BM25 (Anserini)"
    assert SYSTEMS["minilm"].family == "dense"
    assert SYSTEMS["tas-b"].checkpoint == "sentence-transformers/msmarco-distilbert-base-tas-b"


def test_rows_without_a_searcher_say_why() -> None:
    runnable = {name for name, row in SYSTEMS.items() if not row.status}
    assert {"bm25", "bm25-multifield", "bm25-rm3", "minilm", "dpr", "labse"} <= runnable
    assert SYSTEMS["genq"].status.endswith("python -m compute train genq DATASET")
    assert SYSTEMS["seal"].status == "published figures only"


def test_every_system_that_has_code_ran_as_it_is_now() -> None:
    """tests/systems/test_every_system.py tries what is new, or another now, and keeps it."""
    coded = {name for name, row in SYSTEMS.items() if row.search or row.recipe}
    assert SYSTEMS.keys() - coded == {"gar-bm25", "seal"}
    assert {name for name, row in SYSTEMS.items() if row.tried.startswith(RAN)} == coded


def test_a_system_that_is_another_now_was_not_tried() -> None:
    bm25, splade = SYSTEMS["bm25"], SYSTEMS["splade"]
    for row in (
        replace(bm25, search=Bm25(k1=0.9, b=0.5)),
        replace(bm25, inputs=("minilm",)),
        replace(splade, search=Sparse(from_text("naver/splade-v3"))),
        system("bm25(b=0.5)"),
        system("genq[tiny]"),
    ):
        assert row.tried == "not tried"
    assert SYSTEMS["seal"].tried == ""


def test_a_new_system_of_a_known_family_is_one_row() -> None:
    row = System("bm25-long", family="lexical", search=Bm25(k1=1.5, b=0.75))
    assert catalogue(row)["bm25-long"].parameters == {"k1": 1.5, "b": 0.75}
    with pytest.raises(WrongInput, match="give its family"):
        catalogue(System("bm25-long"))


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(Conflict, match="'bm25'"):
        catalogue(System("bm25"), System("bm25"))


def test_parameters_make_another_system_under_its_canonical_name() -> None:
    long = system("bm25( b=0.75, k1=1.20 )")
    assert long.name == "bm25(k1=1.2,b=0.75)"
    assert long.search == Bm25(k1=1.2, b=0.75)
    assert long.title == "BM25 (Pyserini) (k1=1.2,b=0.75)"
    assert system("bm25(k1=0.9,b=0.40)") is SYSTEMS["bm25"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm52", "did you mean: bm25"),
        ("bm25(k3=1)", "no parameter 'k3'; it takes: k1, b"),
        ("genq(k1=1)", "it takes: model, queries"),
        ("bm25(b=2)", "b is 2.0; it must be from 0 to 1"),
        ("bm25-rm3(fb_docs=0)", "fb_docs is 0; it must be 1 or more"),
        ("minilm(bm25)", "not made from other systems"),
        ("bm25[nfcorpus]", "not trained on a dataset"),
    ],
)
def test_wrong_names_are_answered_with_what_is_right(name: str, message: str) -> None:
    with pytest.raises(WrongInput) as refused:
        system(name)
    assert message in str(refused.value)


def searcher(name: str) -> Searcher:
    found = system(name).search
    assert found is not None and not isinstance(found, Combiner)
    return found


def test_systems_share_an_index_when_only_the_ranking_differs() -> None:
    flat, fields, rm3, minilm = map(searcher, ("bm25", "bm25-multifield", "bm25-rm3", "minilm"))
    assert flat.index_identity() == rm3.index_identity() != fields.index_identity()
    assert flat.identity() != rm3.identity()
    assert system("minilm(max_length=128)").search != minilm
    identities = [row.search.identity() for row in SYSTEMS.values() if row.search]
    assert json.loads(json.dumps(identities)) == identities


@pytest.mark.long
def test_rows_and_their_checks_load_nothing_heavy() -> None:
    script = """
import contextlib, sys
from compute.base.errors import Unavailable
from compute.systems import SYSTEMS
for row in SYSTEMS.values():
    if row.search:
        row.search.identity()
        with contextlib.suppress(Unavailable):
            row.search.check()
print(*(sys.modules.keys() & {"torch", "transformers", "sentence_transformers", "faiss",
                              "pyserini", "jnius"}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == ""


def test_the_analyser_of_polish_is_the_one_that_runs() -> None:
    assert ANALYSERS["pl"].startswith("Morfologik")
    told = [row.settings for row in SYSTEMS.values() if "Polish" in row.settings]
    assert len(told) == 6
    assert all("Morfologik" in words and "in the paper Stempel" in words for words in told)

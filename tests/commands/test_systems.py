import json

import pytest

from compute.__main__ import main
from compute.commands.recomputing import tell_first
from compute.datasets import DATASETS
from compute.store.loading import Bench
from compute.store.store import Store
from compute.systems import DOCUMENTED, REFERENCE, SYSTEMS, system

PUBLISHED = "published figures only"


def test_every_system_of_the_papers_says_what_it_was_verified_against(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["systems", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    papers = [row for row in rows if row["in_papers"]]
    assert len(papers) == 31
    for row in papers:
        known = SYSTEMS[row["system"]]
        runs = known.search is not None or known.recipe is not None
        assert runs == (known.name not in ("gar-bm25", "seal"))
        assert row["verified"] in ((DOCUMENTED, REFERENCE) if runs else (PUBLISHED,))


def test_a_table_fits_a_terminal_and_is_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systems"]) == 0
    *table, summary = capsys.readouterr().out.splitlines()
    assert max(map(len, table)) <= 120
    assert summary.startswith("31 systems from papers: ")
    assert ". 33 systems ran in this version's tests, " in summary
    rows = {line.split()[0]: line.split() for line in table}
    bm25 = SYSTEMS["bm25"]
    assert (
        rows["bm25"][2:] == f"{bm25.verified.removeprefix('verified ')} {bm25.tried} runs".split()
    )
    assert rows["seal"][2:] == f"{PUBLISHED} needs a model".split()


def test_what_a_fusion_of_shipped_runs_makes_first_is_said(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = Bench(Store(bench.settings), bench.settings)
    tell_first(shipped, system("rrf(bm25,minilm)"), DATASETS["scifact"])
    assert capsys.readouterr().err == (
        "bm25, minilm: no complete lists on scifact here (shipped ones are truncated), so they are"
        " computed first\n"
    )
    tell_first(shipped, system("bm25"), DATASETS["scifact"])
    tell_first(shipped, system("rrf(bm25,minilm,k=20)"), DATASETS["scifact"])
    assert not capsys.readouterr().err


def test_a_run_on_the_queries_of_its_training_says_so(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = system("rrf(bm25,bm25-augmented[pydocs-numpy])")
    tell_first(bench, trained, DATASETS["pydocs-numpy"])
    said = capsys.readouterr().err
    assert "was trained or tuned on the judged queries of pydocs-numpy: its scores on" in said
    tell_first(bench, trained, DATASETS["pydocs-scipy"])
    tell_first(bench, system("bm25-augmented[scifact]"), DATASETS["scifact"])
    assert "was trained on" not in capsys.readouterr().err

"""Judgements by subtopic: taken in, scored, replaced, looked at, shown only where they are."""

from pathlib import Path

import pytest
from pandas import DataFrame

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.evaluate.subtopics import MEASURES
from compute.exports import shipping
from compute.intake import doctor, imports
from compute.jobs import removing
from compute.judgements import Choice
from compute.reading import database
from compute.reading.overlay import Overlays
from compute.recompute import run as recompute
from compute.recompute.run import read
from compute.store.loading import Bench

QRELS = "q1 1 a 1\nq1 2 a 1\nq1 1 b 1\nq1 2 b 0\nq1 3 c 1\nq2 1 a 0\n"
RUN = "q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\n"


@pytest.fixture
def diverse(bench: Bench, tmp_path: Path) -> Dataset:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    row = imports.import_dataset(bench, "diverse", qrels=tmp_path / "qrels").dataset
    imports.import_run(bench, tmp_path / "run", row, system="one")
    return row


def scored(bench: Bench, dataset: str) -> dict[tuple[str, str], float]:
    part = bench.store.part("scores", dataset, "one")
    assert part
    rows = read(part)
    return dict(
        zip(zip(rows["query_id"], rows["measure"], strict=True), rows["value"], strict=True)
    )


def test_every_run_on_them_is_scored_by_what_counts_them(bench: Bench, diverse: Dataset) -> None:
    found = scored(bench, "diverse")
    assert {measure for _, measure in found} >= {*MEASURES}
    # b covers 1, a covers 1 again and 2; the best list is a, c, b.
    gained, best = 1 + (0.5 + 1) / 2, 2 + 1 / 1.5849625007211562 + 0.5 / 2
    assert found["q1", "alpha_nDCG@10"] == pytest.approx(gained / best)
    assert found["q1", "StRecall@10"] == pytest.approx(2 / 3)
    assert found["q2", "alpha_nDCG@10"] == 0
    loaded = recompute.stored_dataset(bench.store, diverse)
    assert loaded.judgements.rows == 4, "one judgement for a pair, for all other measures"
    hits = bench.store.part("hits", "diverse", "one")
    assert hits
    assert not recompute.score(bench, loaded, hits).new


def test_other_subtopics_make_scores_old_and_none_take_the_measures_away(
    bench: Bench, diverse: Dataset, tmp_path: Path
) -> None:
    hits = bench.store.part("hits", "diverse", "one")
    assert hits
    for content, value in ((QRELS.replace(" 3 c", " 1 c"), 1.0), ("q1 0 a 1\nq1 0 b 1\n", None)):
        (tmp_path / "qrels").write_text(content)
        loaded = imports.import_dataset(bench, "diverse", qrels=tmp_path / "qrels", replace=True)
        assert recompute.score(bench, loaded, hits).new
        assert scored(bench, "diverse").get(("q1", "StRecall@10")) == value
    assert bench.store.parts("subtopics") == []


def test_added_judgements_say_nothing_of_subtopics(bench: Bench, diverse: Dataset) -> None:
    label = {"dataset": "diverse", "query_id": "q1", "doc_id": "x", "relevance": 1}
    about = {"person": "ada", "task": "t", "guideline_version": "1", "source": "person"}
    bench.store.add_judgements(DataFrame([label | about]))
    opened = database.open_version(bench.store)
    choice = Choice("majority", ("person",))
    with Overlays(bench.store, opened).cursor(bench.store.judgement_version(), choice) as cursor:
        found = cursor.execute("select measure from means where dataset = 'diverse'").fetchall()
    assert ("P@10",) in found
    assert not {(name,) for name in MEASURES} & {*found}


def test_a_look_before_the_import_tells_of_them(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    report = doctor.check(tmp_path / "qrels")
    assert not report.refused
    assert "judged by subtopic, 6 times" in " ".join(report.lines())
    (tmp_path / "qrels").write_text(QRELS + "q1 1 a 0\n")
    assert doctor.check(tmp_path / "qrels").refused
    with pytest.raises(WrongInput, match="two different judgements"):
        imports.import_dataset(bench, "wrong", qrels=tmp_path / "qrels")


def test_they_ship_and_go_with_their_dataset(
    bench: Bench, diverse: Dataset, tmp_path: Path
) -> None:
    shipped = shipping.ship(bench.store, ["diverse"], folder=tmp_path / "out").parts
    assert "subtopics" in {part.kind for part in shipped}
    removing.remove(bench.store, "diverse")
    assert bench.store.parts() == []


def test_a_dataset_without_them_is_told_so(
    bench: Bench,
    tiny: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    (tmp_path / "run").write_text("q1 Q0 d1 1 1 t\n")
    imports.import_run(bench, tmp_path / "run", tiny, system="one")
    asked = ["scores", "--dataset", "tiny", "--measure"]
    assert main([*asked, "StRecall@10"]) == 2
    told = capsys.readouterr().err
    assert "StRecall@10 cannot be computed on tiny: its judgements have no subtopics" in told
    assert main([*asked, "alpha-nDCG@10"]) == 2
    assert "here it is alpha_nDCG@10" in capsys.readouterr().err

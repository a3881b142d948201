"""Runs scored by more measures than the usual ones, which stay as they were stored."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import load
from compute.datasets import DATASETS, Dataset
from compute.evaluate import scored_measures
from compute.evaluate.measures import MEASURES
from compute.exports import shipping
from compute.intake import imports
from compute.judgements import PERSON, Choice
from compute.reading import database
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.recompute import run as recompute
from compute.recompute.run import Outcome
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from tests.support.scored import added

RUN = "".join(
    f"{query} Q0 d{place} {place} {9 - place} mine\n"
    for query in ("q1", "q2", "q3")
    for place in range(1, 6)
)


@pytest.fixture
def run(bench: Bench, tiny: Dataset, tmp_path: Path) -> Outcome:
    """q1 has d1 and d5 at ranks 1 and 5, q2 d2 and d3 at 2 and 3, q3 nothing of its d6."""
    file = tmp_path / "mine.run"
    file.write_text(RUN, encoding="utf-8")
    return imports.import_run(bench, file, tiny)


def measured(outcome: Outcome) -> set[str]:
    return set(recompute.read(outcome.scores)["measure"])


def values(outcome: Outcome, measure: str) -> dict[str, float]:
    scores = recompute.read(outcome.scores)
    own = scores[scores["measure"] == measure]
    return dict(zip(own["query_id"], own["value"], strict=True))


def test_scores_by_the_usual_measures_keep_the_fingerprint_that_they_always_had(
    bench: Bench, tiny: Dataset, run: Outcome
) -> None:
    loaded = recompute.stored_dataset(bench.store, tiny)
    inputs = [run.hits.fingerprint, loaded.judgements.fingerprint]
    called = fingerprint("scores", inputs, measures=list(MEASURES), depth=1000)
    assert run.scores.fingerprint == called
    assert "more_measures" not in run.scores.provenance


def test_a_measure_that_is_asked_for_is_added_to_the_stored_ones(
    bench: Bench, tiny: Dataset, run: Outcome
) -> None:
    loaded = recompute.stored_dataset(bench.store, tiny)
    more = recompute.score(bench, loaded, run.hits, measures=["P@5", "AP", "RBP(p=0.5)@10"])
    assert more.new
    assert measured(more) == {*MEASURES, "P@5", "AP", "RBP(p=0.5)@10"}
    assert values(more, "P@5") == {"q1": 0.4, "q2": 0.4, "q3": 0.0}
    assert values(more, "AP")["q1"] == pytest.approx((1 / 1 + 2 / 5) / 2)
    assert values(more, "nDCG@10") == values(run, "nDCG@10")
    again = recompute.score(bench, loaded, run.hits, measures=["AP"])
    assert (again.new, again.scores.id) == (False, more.scores.id)
    # Without naming them, too: what was scored once stays.
    assert not recompute.score(bench, loaded, run.hits).new
    assert measured(recompute.score(bench, loaded, run.hits, again=True)) == measured(more)


def test_the_setting_adds_measures_to_every_run(
    bench: Bench, tiny: Dataset, run: Outcome, tmp_path: Path
) -> None:
    wider = replace(bench, settings=replace(bench.settings, measures=("Bpref", "nDCG@10")))
    loaded = recompute.stored_dataset(bench.store, tiny)
    assert measured(recompute.score(wider, loaded, run.hits)) == {*MEASURES, "Bpref"}
    file = tmp_path / "other.run"
    file.write_text(RUN.replace("mine", "other"), encoding="utf-8")
    other = imports.import_run(wider, file, tiny)
    assert measured(other) == {*MEASURES, "Bpref"}
    assert not imports.import_run(bench, file, tiny).new
    parts = bench.store.parts()
    assert scored_measures.offered(bench.settings, parts) == [*MEASURES, "Bpref"]
    assert scored_measures.offered(replace(bench.settings, measures=("P@5",)), ()) == [
        *MEASURES,
        "P@5",
    ]


def test_a_run_that_takes_the_place_of_another_keeps_its_measures(
    bench: Bench, tiny: Dataset, run: Outcome, tmp_path: Path
) -> None:
    loaded = recompute.stored_dataset(bench.store, tiny)
    recompute.score(bench, loaded, run.hits, measures=["P@5"])
    file = tmp_path / "mine.run"
    file.write_text(RUN.replace("d1", "d6"), encoding="utf-8")
    outcome = imports.import_run(bench, file, tiny, replace=True)
    assert values(outcome, "P@5") == {"q1": 0.2, "q2": 0.4, "q3": 0.2}


def test_a_wrong_name_in_the_settings_is_refused_with_the_known_ones(bench: Bench) -> None:
    wrong = replace(bench.settings, measures=("P",))
    with pytest.raises(WrongInput, match=r"the setting measures: no measure 'P'; known: nDCG@k"):
        scored_measures.of_settings(wrong)


def test_the_comma_within_a_measure_parts_nothing(tmp_path: Path) -> None:
    named = "P@5, RBP(p=0.8,rel=2)@10 Bpref"
    now = load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_MEASURES": named})
    assert now.measures == ("P@5", "RBP(p=0.8,rel=2)@10", "Bpref")


def test_shipped_scores_stay_and_only_what_their_hits_reach_is_added(
    bench: Bench, tiny: Dataset, run: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "DEPTH", 4)
    shipping.ship(bench.store, ["tiny"], folder=tmp_path / "shipped")
    settings = replace(bench.settings, home=tmp_path / "elsewhere")
    away = Bench(Store(settings, shipped=tmp_path / "shipped"), settings)
    loaded = recompute.stored_dataset(away.store, tiny)
    (hits,) = away.store.parts("hits", "tiny")
    assert pq.read_table(hits.path).num_rows == 3 * 4
    outcome = recompute.score(away, loaded, hits, measures=["P@2", "P@5", "AP"])
    assert measured(outcome) == {*MEASURES, "P@2"}
    assert values(outcome, "P@2") == {"q1": 0.5, "q2": 0.5, "q3": 0.0}
    # Of all that was retrieved, q1's d5 at rank 5 too.
    assert values(outcome, "R@100")["q1"] == 1
    assert not recompute.score(away, loaded, hits, measures=["P@5"]).new


@pytest.mark.long
def test_added_judgements_score_no_run_by_a_measure_that_it_has_no_scores_of(
    bench: Bench, tiny: Dataset, run: Outcome, tmp_path: Path
) -> None:
    file = tmp_path / "other.run"
    file.write_text(RUN.replace("mine", "other"), encoding="utf-8")
    imports.import_run(bench, file, tiny)
    loaded = recompute.stored_dataset(bench.store, tiny)
    recompute.score(bench, loaded, run.hits, measures=["P@5", "AP"])
    overlays = Overlays(bench.store, open_version(bench.store))
    rows = added([("q3", "d1", 1, "ada", PERSON)], "tiny")
    with overlays.cursor(bench.store.add_judgements(rows), Choice()) as cursor:
        found = cursor.execute(
            "select system, measure, value, n_queries from means"
            " where measure in ('P@5', 'AP') order by all"
        ).fetchall()
    # q3 has d1 at rank 1 and d6, which is not retrieved.
    precise = ((1 / 1 + 2 / 5) / 2 + (1 / 2 + 2 / 3) / 2 + (1 / 1) / 2) / 3
    assert found == [
        ("mine", "AP", pytest.approx(precise), 3),
        ("mine", "P@5", pytest.approx((0.4 + 0.4 + 0.2) / 3), 3),
    ]


def test_runs_on_a_dataset_that_counts_from_grade_2_are_scored_from_there_too(
    bench: Bench, tmp_path: Path
) -> None:
    qrels, file = tmp_path / "qrels.txt", tmp_path / "mine.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 2\nq1 0 d9 3\nq2 0 d1 1\n", encoding="utf-8")
    file.write_text(RUN, encoding="utf-8")
    with pytest.raises(WrongInput, match="level 4: choose one from 1 to 3, the highest grade"):
        imports.import_dataset(bench, "dl", qrels=qrels, level=4)
    loaded = imports.import_dataset(bench, "dl", qrels=qrels, level=2)
    assert own_datasets(bench.store)["dl"].level == 2
    assert loaded.queries.provenance["command"].endswith(" --name dl --level 2")
    outcome = imports.import_run(bench, file, loaded.dataset)
    asking = {"R@100", "R_cap@100", "AP@100", "RR@10", "P@10", "Success@5", "Success@20", "R@1000"}
    assert measured(outcome) == {*MEASURES} | {name.replace("@", "(rel=2)@") for name in asking}
    # Of d2 and d9, d2 stands at rank 2; the plain name counts d1, too, at rank 1.
    assert values(outcome, "AP(rel=2)@100") == {"q1": 1 / 2 / 2, "q2": 0}
    assert values(outcome, "AP@100") == {"q1": (1 / 1 + 2 / 2) / 3, "q2": 1}
    with database.open_version(bench.store).cursor() as cursor:
        assert cursor.sql("select level from datasets where name = 'dl'").fetchall() == [(2,)]
    assert imports.import_dataset(bench, "dl", qrels=qrels).dataset.level == 1


def test_the_deep_learning_track_of_the_catalogue_counts_from_grade_2() -> None:
    levels = {name: row.level for name, row in DATASETS.items() if row.level > 1}
    assert levels == {"msmarco/test": 2, "msmarco-pl/test": 2}
    assert "level" not in DATASETS["scifact"].record(), (
        "as it was recorded before there were levels"
    )

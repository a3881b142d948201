"""Several runs of one system: imported, averaged wherever scores are computed."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from compute.base.errors import Conflict
from compute.datasets import Dataset, shapes
from compute.evaluate.measures import parse
from compute.evaluate.non_inferiority import decide
from compute.intake import gate_runs, imports
from compute.jobs import removing
from compute.judgements import Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.recompute import run as recompute
from compute.recompute import score_check
from compute.recompute.run import Bench, Outcome
from compute.store import freshness, repeats
from compute.store.run_versions import Version
from compute.views.compare import page as compare
from compute.views.compare import select, tables
from compute.views.compare.differences import verdict
from compute.views.dataset import page as dataset
from compute.views.leaderboard import page as leaderboard
from compute.views.page import Heading, Note, parts
from compute.views.page.store_ask import opened
from compute.views.query import page as query
from compute.views.shared import standings
from tests.support.scored import added

FIRST = "q1 Q0 d1 1 3 x\nq1 Q0 d2 2 2 x\nq2 Q0 d2 1 1 x\nq3 Q0 d6 1 1 x\n"
SECOND = "q1 Q0 d2 1 3 x\nq1 Q0 d1 2 2 x\nq2 Q0 d3 1 1 x\nq2 Q0 d2 2 .5 x\n"
OTHER = "q1 Q0 d4 1 3 y\nq2 Q0 d2 1 1 y\nq3 Q0 d1 1 1 y\n"
GRADES = [("q1", "d4", 2, "ada", "person"), ("q3", "d6", 1, "ada", "person")]
ASKED = {"datasets": ["tiny"], "a": "ours", "b": "theirs", "measure": "nDCG@10"}


@pytest.fixture
def take(bench: Bench, tiny: Dataset, tmp_path: Path) -> "Take":
    """Import of texts as files of these names."""
    return Take(bench, tiny, tmp_path)


class Take:
    def __init__(self, bench: Bench, row: Dataset, folder: Path) -> None:
        self.bench, self.row, self.folder = bench, row, folder

    def __call__(self, system: str, text: str, name: str, **how: object) -> Outcome:
        (file := self.folder / name).write_text(text, "utf-8")
        given: dict = {"system": system, "repeat": True, "any_tag": True} | how
        return imports.import_run(self.bench, file, self.row, **given)

    def two(self) -> "Take":
        for name, text in (("1.run", FIRST), ("2.run", SECOND)):
            self("ours", text, name)
        self("theirs", OTHER, "3.run", repeat=False)
        return self

    def scores(self, system: str, kind: str = "scores") -> pd.DataFrame:
        part = self.bench.store.part(kind, "tiny", system)
        assert part is not None
        return recompute.read(part)


def of(rows: pd.DataFrame, measure: str = "nDCG@10") -> pd.Series:
    return rows[rows["measure"] == measure].set_index("query_id")["value"].sort_index()


@pytest.mark.long
def test_scores_are_the_means_over_runs(take: Take) -> None:
    take.two()
    alone = []
    for name, text in (("r1", FIRST), ("r2", SECOND)):
        take(name, text, f"{name}.txt", repeat=False)
        alone.append(of(take.scores(name)))
    pd.testing.assert_series_equal(of(take.scores("ours")), (alone[0] + alone[1]) / 2)
    by_run = take.scores("ours", "run_scores")
    for run, values in enumerate(alone, 1):
        pd.testing.assert_series_equal(of(by_run[by_run["run"] == run]), values)
    assert score_check.check(take.bench).agrees
    stored = {part.system for part in take.bench.store.parts("scores")}
    assert stored >= {"ours", "theirs"}
    assert not any("#" in name for name in stored)


@pytest.mark.long
def test_a_file_counts_once_and_equal_runs_count(take: Take) -> None:
    assert take("ours", FIRST, "1.run").new
    assert not take("ours", FIRST, "1.run").new
    first = take.scores("ours")
    outcome = take("ours", FIRST, "again.run")
    assert (outcome.new, of(first).equals(of(take.scores("ours")))) == (True, True)
    assert "means of 2 runs, spread 0" in recompute.said(take.bench, outcome)
    assert not take("ours", FIRST, "again.run").new
    take("theirs", OTHER, "3.run")
    with open_version(take.bench.store).cursor() as cursor:
        both = verdict(select.pairs(cursor, **ASKED), "nDCG@10")
        (row,) = select.tested(cursor, **ASKED).to_dict("records")
        several = select.tested(cursor, **ASKED)
    assert "the 2 runs of A are equal (spread 0)" in tables.answer(both, row, ("A", "B"), "nDCG@10")
    assert several["p_t"].notna().all()


@pytest.mark.long
def test_compare_says_what_a_rebuild_moves(take: Take) -> None:
    take.two()
    with open_version(take.bench.store).cursor() as cursor:
        both = verdict(select.pairs(cursor, **ASKED), "nDCG@10")
        one, taken = (
            select.tested(cursor, **ASKED, same_spread=same).iloc[0] for same in (False, True)
        )
        row = standings.ranked(standings.standing(cursor, ["tiny"], "nDCG@10"), "nDCG@10")
    spread = take.scores("ours", "run_scores").query("measure == 'nDCG@10'")
    spread = spread.groupby("run")["value"].mean().std()
    assert (one["runs_a"], one["runs_b"]) == (2, 1)
    assert one["spread_a"] == pytest.approx(spread)
    assert taken["high"] - taken["low"] > one["high"] - one["low"]
    said = tables.answer(both, one.to_dict(), ("A", "B"), "nDCG@10")
    assert "a rebuild alone moves the score of A by" in said
    assert said.endswith("B has one run: its run-to-run variance is unknown and left out.")
    said = tables.answer(both, taken.to_dict(), ("A", "B"), "nDCG@10")
    assert said.endswith("unknown, so the other's is used.")
    own = row.set_index("system").loc["ours"]
    assert (own["runs"], own["spread"]) == (2, pytest.approx(spread))
    assert standings.by_runs(row, {"ours": "O"}).startswith("Means of several runs: O 2 (spread .")


@pytest.mark.long
def test_added_judgements_are_averaged_again(take: Take) -> None:
    take.two()
    store = take.bench.store
    store.add_judgements(added(GRADES, dataset="tiny"))
    with Overlays(store, open_version(store)).cursor(2, Choice()) as cursor:
        shown = cursor.execute("select * from scores where system = 'ours'").df()
        by_run = cursor.execute("select * from run_scores").df()
        means = cursor.execute("select * from means where system = 'ours'").df()
        official = cursor.execute("select * from main.scores where system = 'ours'").df()
    assert not of(shown).equals(of(official))
    again = repeats.averaged(by_run)
    pd.testing.assert_series_equal(of(shown), of(again))
    mean = means.set_index("measure")["value"]["nDCG@10"]
    assert mean == pytest.approx(of(again).mean())


@pytest.mark.long
def test_rescoring_replacing_and_versions_keep_runs_together(take: Take) -> None:
    take.two()
    store, before = take.bench.store, of(take.scores("ours"))
    loaded = recompute.stored_dataset(store, take.row)
    hits = store.part("hits", "tiny", "ours")
    assert hits is not None
    assert not recompute.score(take.bench, loaded, hits).new
    assert recompute.score(take.bench, loaded, hits, measures=["P@3"]).new
    pd.testing.assert_series_equal(of(take.scores("ours")), before)
    assert set(take.scores("ours", "run_scores")["measure"]) >= {"P@3", "nDCG@10"}
    take("ours", OTHER, "new.run", version=Version())
    assert store.part("repeats", "tiny", "ours") is None
    pd.testing.assert_series_equal(of(take.scores("ours@1")), before)
    (kept,) = store.parts("hits", "tiny", "ours@1")
    assert recompute.score(take.bench, loaded, kept, again=True).new
    pd.testing.assert_series_equal(of(take.scores("ours@1")), before)
    assert not freshness.split(store.parts(picked=None))[1]
    take("ours", FIRST, "1.run")
    take("ours", SECOND, "2.run", replace=True)
    assert store.part("run_scores", "tiny", "ours") is None
    assert not freshness.split(store.parts(picked=None))[1]
    removing.remove(store, "tiny", "ours@1")
    assert not [part for part in store.parts(picked=None) if part.system == "ours@1"]


@pytest.mark.long
def test_a_version_with_the_first_hits_keeps_the_others(take: Take) -> None:
    before = of(take.two().scores("ours"))
    take("ours", FIRST.replace(" x\n", " z\n"), "retagged.run", version=Version())
    pd.testing.assert_series_equal(of(take.scores("ours@1")), before)
    assert take.bench.store.part("repeats", "tiny", "ours@1") is not None


def test_runs_without_judgements_are_scored_once_there_are_some(take: Take) -> None:
    files = []
    for name, text in (("1.run", FIRST), ("2.run", SECOND)):
        (file := take.folder / name).write_text(text, "utf-8")
        files.append((file, shapes.How()))
    row = imports.import_dataset(take.bench, "bare", files=files).dataset
    how: dict[str, Any] = {"system": "ours", "repeat": True, "any_tag": True}
    told = [
        recompute.said(take.bench, imports.import_run(take.bench, file, row, **how))
        for file, _ in files
    ]
    assert "no scores: nothing is judged yet" in told[1]
    (qrels := take.folder / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", "utf-8")
    imports.import_dataset(take.bench, "bare", qrels=qrels)
    part = take.bench.store.part("run_scores", "bare", "ours")
    assert part is not None
    assert set(recompute.read(part)["run"]) == {1, 2}


@pytest.mark.long
def test_several_files_replace_a_run_together(take: Take) -> None:
    take.two()
    taken: set[str] = set()
    for name, text in (("a.run", OTHER), ("b.run", FIRST), ("c.run", SECOND)):
        taken.add(take("ours", text, name, replace=True, spared=taken).hits.system)
    assert set(take.scores("ours", "run_scores")["run"]) == {1, 2, 3}
    with pytest.raises(Conflict, match="a system of the catalogue"):
        take("bm25", FIRST, "1.run")


@pytest.mark.long
def test_the_gate_is_over_runs_and_counts_what_any_run_leaves_out(take: Take) -> None:
    take.two()
    two = [gate_runs.given(take.bench.store, name) for name in ("theirs", "ours")]
    rows, remarks = gate_runs.compared(take.bench, take.row, two, parse("nDCG@10"), alone=True)
    assert any("mean of 2 runs, spread ." in line for line in remarks)
    assert any("theirs on tiny: one run: its run-to-run" in line for line in remarks)
    (row,) = decide({"tiny": rows}, 0.01, any_answered=True).to_dict("records")
    alone = rows.drop(columns=[name for name in rows if " run " in str(name)])
    (other,) = decide({"tiny": alone}, 0.01, any_answered=True).to_dict("records")
    assert row["high"] - row["low"] > other["high"] - other["low"]
    # The second run answers neither query 3 nor any that the first does not.
    assert decide({"tiny": rows}, 0.01)["unanswered"].tolist() == [1]


@pytest.mark.long
def test_pages_say_what_is_of_the_first_run(take: Take) -> None:
    take.two()
    with opened(take.bench.store) as ask:
        of = {"dataset": "tiny", "a": "ours", "b": "theirs"}
        compared = parts(compare.page, ask, **of)
        again = parts(compare.page, ask, **of, same_spread=True)
        lists = parts(query.page, ask, dataset="tiny", systems="ours,theirs")
        standing = parts(dataset.page, ask, dataset="tiny", show="Systems")
        board = parts(leaderboard.page, ask, numbers="Computed")
    (said,) = [one.text for one in compared if isinstance(one, Heading) and "rebuild" in one.text]
    assert "B" in said or "ours" in said
    assert any("left out" in one.text for one in compared if isinstance(one, Heading))
    assert any("so the other's is used" in one.text for one in again if isinstance(one, Heading))
    notes = [line for one in lists if isinstance(one, Note) for line in one.facts]
    assert any(line.startswith("Several runs: ours. Lists") for line in notes)
    notes = [line for one in standing if isinstance(one, Note) for line in one.facts]
    assert any(line.startswith("Means of several runs: ours 2") for line in notes)
    assert board

"""Versions beside each other: what each was, what it scores, what it changed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compute.datasets import DATASETS, Dataset
from compute.intake import imports, query_labels
from compute.reading.database import open_version
from compute.store import run_versions
from compute.store.loading import Bench
from compute.store.run_versions import Version
from compute.views.compare import select as compare_select
from compute.views.dataset import versions
from compute.views.dataset.page import page
from tests.support import filled
from tests.views import records
from tests.views.records import under

RUNS = [
    "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d4 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d4 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    "q1 Q0 d1 1 3.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
]


@pytest.fixture
def three(bench: Bench, tiny: Dataset, tmp_path: Path) -> Bench:
    for number, lines in enumerate(RUNS, 1):
        (tmp_path / f"{number}.run").write_text(lines, "utf-8")
        version = Version("", f"the {number}.")
        imports.import_run(bench, tmp_path / f"{number}.run", tiny, version=version)
    return bench


def test_each_version_has_its_scores_holes_and_what_it_has_more(three: Bench) -> None:
    kept = run_versions.stored(three.store, "tiny")
    history = versions.history(kept, three.store.part("hits", "tiny", "t"))
    assert history[["system", "label", "note", "made"]].to_numpy().tolist() == [
        ["t@1", "1", "the 1.", "1.run"],
        ["t@2", "2", "the 2.", "2.run"],
        ["t", "3", "the 3.", "3.run"],
    ]
    systems = history["system"].tolist()
    cursor = open_version(three.store, picked=systems).cursor()
    rows = versions.scored(cursor, ["tiny"], systems, "RR@10").set_index("system")
    # Reciprocal ranks: 1/2, 0, 1; then 1, 0, 1; then 1 everywhere.
    assert rows["value"].tolist() == pytest.approx([1 / 2, 2 / 3, 1])
    assert rows["hole"].tolist() == pytest.approx([1 / 2, 1 / 2, 0])
    assert rows["difference"].tolist()[1:] == pytest.approx([1 / 6, 1 / 3])
    (tested,) = compare_select.tested(cursor, ["tiny"], "t", "t@2", "RR@10").to_dict("records")
    last = rows.loc["t"]
    assert (last["from"], last["to"]) == (tested["low"], tested["high"])
    assert last["p"] == tested["p_randomisation"]
    told = history.merge(rows, on="system")
    shown = under(versions.columns(told, "RR@10"), told)
    assert shown["Version"].tolist() == ["1", "2", "3"]
    assert shown["vs. previous version"].tolist() == ["–", "+.167", "+.333"]
    drawn: Any = versions.line(history.merge(rows, on="system"), "RR@10", theme="light")
    assert list(drawn.data[0].y) == pytest.approx([1 / 2, 2 / 3, 1])


def line(bench: Bench, **address: Any) -> tuple[records.Shown, list[Any]]:
    """The page, and the values of its lines: mean, Hole@10 and perhaps the baseline."""
    names = {"dataset": "tiny", "measure": "RR@10", "versions": "t"}
    shown = records.shown(page, bench.settings.home, **names, **address)
    parts: list[Any] = [one for one in shown.parts if getattr(one, "key", "") == "versions_line"]
    return shown, [list(of.y) for of in parts[0].drawn(theme="light").data]


@pytest.mark.long
def test_a_line_over_all_datasets_that_have_the_versions(three: Bench, tmp_path: Path) -> None:
    alone = line(three)[1]
    for name, runs in (("other", RUNS[::-1]), ("fewer", RUNS[1:])):
        row = filled.take(three, {}, name)
        for lines in runs:
            (tmp_path / "next.run").write_text(lines, "utf-8")
            imports.import_run(three, tmp_path / "next.run", row, version=Version())
    assert line(three)[1] == alone
    shown, lines = line(three, versions_all="true")
    # 1/2, 2/3, 1 on one; 1, 2/3, 1/2 on the other.
    assert lines[0] == pytest.approx([3 / 4, 2 / 3, 3 / 4])
    assert "Mean over the datasets that have these versions: other, tiny." in shown.words
    assert shown.table("versions_table").opens is None
    assert {*versions.shared(three.store.parts("hits"), ["t"])} == {"tiny", "other", "fewer"}
    (forum, *_) = DATASETS["cqadupstack"].parts
    moved = [replace(part, dataset=forum) for part in three.store.parts("hits", "tiny")]
    assert versions.shared(moved, ["t"]) == []


@pytest.mark.long
def test_a_kept_baseline_is_the_default_and_the_address_wins(three: Bench, tiny: Dataset) -> None:
    filled.add(three, tiny, {"base": RUNS[1], "poor": RUNS[0]})
    assert len(line(three)[1]) == 2
    query_labels.declare(three, tiny, baseline="base")
    shown, lines = line(three)
    assert lines[2] == pytest.approx([2 / 3] * 2)
    assert "Dashed: the baseline, base (.667)." in shown.words
    assert "than base" in str(shown.figure("standing")["layout"]["annotations"])
    shown, lines = line(three, against="poor")
    assert lines[2] == pytest.approx([1 / 2] * 2)
    assert "than poor" in str(shown.figure("standing")["layout"]["annotations"])

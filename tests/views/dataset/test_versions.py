"""Versions beside each other: what each was, what it scores, what it changed."""

from pathlib import Path
from typing import Any

import pytest

from compute.datasets import Dataset
from compute.intake import imports
from compute.reading.database import open_version
from compute.store import run_versions
from compute.store.loading import Bench
from compute.store.run_versions import Version
from compute.views.compare import select as compare_select
from compute.views.dataset import versions
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

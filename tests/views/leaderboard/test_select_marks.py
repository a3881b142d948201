"""Marks of a table: what is significantly above or below a baseline, by dataset."""

from pathlib import Path

import numpy as np
import pytest

from compute.evaluate import power
from compute.reading.database import open_version
from compute.views.leaderboard import select_marks
from tests.support.storage import hits, open_store, publish_run, scores


def test_marks_have_a_side_and_are_corrected_over_the_systems_of_a_dataset(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    # Twelve queries: `up` is above on all of them, `down` below, `same` equal; `few` has but one.
    for system, sign in (("base", 0), ("up", 1), ("down", -1), ("same", 0)):
        values = {f"q{n}": 0.5 + sign * (n + 1) / 100 for n in range(12)}
        publish_run(store, "scifact", system, hits(("q0", "d", 1)), scores("nDCG@10", **values))
    publish_run(store, "scifact", "few", hits(("q0", "d", 1)), scores("nDCG@10", q0=1.0))
    cursor = open_version(store).cursor()
    names = ["up", "base", "down", "few", "same"]
    asked = ["scifact", "nfcorpus"], names, "base"
    found = select_marks.against(cursor, "nDCG@10", *asked).set_index("system")
    assert found["side"].to_dict() == {"up": 1, "down": -1, "same": 0}
    # Of 2^12 signs two are as extreme, and three systems are compared.
    assert found["p"]["up"] == pytest.approx(3 * 2 / 2**12)
    assert found["p"]["same"] == 1
    # The deviation of .01 to .12 is .0361, of 12 queries; at .05 / 3 it takes 3.734 errors.
    off = power.errors_off(12, 0.05 / 3)
    assert found["detectable"]["up"] == pytest.approx(off * np.sqrt(13 / 12) / 100)
    assert np.isnan(found["detectable"]["same"])
    assert select_marks.against(cursor, "P@10", *asked).empty

"""Scores by people, by a machine and by both."""

import numpy as np
import pytest
from pandas import DataFrame

from compute.evaluate.estimates import corrected, intervals, prediction
from compute.evaluate.estimates.frames import Frame, Values
from compute.evaluate.estimates.linearised import Kind, kind
from compute.judgements import sampling
from compute.views.holes import three_ways
from tests.evaluate.estimates.made import TWO, drawn
from tests.views.records import under

P = kind("P@10")
LEVELS = np.array([1.0, 2.0])


def by(frame: Frame, grades: Values, n: int, machine: Values | None = None) -> intervals.Estimates:
    """Estimates from a sample of n."""
    nothing = np.zeros(frame.n, bool)
    shares = np.full(frame.n, 0.5)
    batch = sampling.order(sampling.sizes(frame, P, shares), nothing, 1).first(n)
    known = np.full(frame.n, np.nan)
    known[batch.rows] = grades[batch.rows]
    given = prediction.features(frame, machine)
    return intervals.estimates(frame, P, corrected.corrected(frame, given, known, [batch], LEVELS))


def alone(frame: Frame, machine: Values, of: Kind = P) -> intervals.Estimates:
    everything = corrected.Batch(np.arange(frame.n), np.ones(frame.n), 1.0)
    reached = (machine[:, None] >= LEVELS).astype(float)
    stands = corrected.by_guess(reached, machine, [everything], LEVELS, frame.query)
    return intervals.estimates(frame, of, stands)


def told(of: intervals.Estimates) -> DataFrame:
    names = ["system", "estimate", "error", "estimate_low", "estimate_high"]
    return of.scores().set_axis(names, axis=1)


def test_a_machine_that_is_right_narrows_the_interval_and_moves_nothing() -> None:
    frame, grades = drawn(60, 10, seed=5)
    people, both = by(frame, grades, 200), by(frame, grades, 200, grades)
    rows = three_ways.systems(told(people), alone(frame, grades), told(both))
    width = {way: (rows[f"{way}_high"] - rows[f"{way}_low"]).mean() for way in three_ways.WAYS}
    assert width["corrected"] < 0.8 * width["people"]
    # Taken for the truth where it is the truth.
    assert (rows["machine"] >= rows["corrected_low"] - 1e-12).all()
    assert (rows["machine"] <= rows["corrected_high"] + 1e-12).all()


def test_a_machine_that_always_says_the_same_changes_nothing() -> None:
    frame, grades = drawn(60, 10, seed=5)
    people, both = by(frame, grades, 200), by(frame, grades, 200, np.ones(frame.n))
    assert both.means == pytest.approx(people.means, abs=1e-12)
    assert both.scores()["high"].to_numpy() == pytest.approx(people.scores()["high"].to_numpy())


def test_a_machine_that_loves_a_system_is_significant_alone() -> None:
    frame, grades = drawn(60, 10, seed=5)
    last = len(frame.systems) - 1
    loved = np.where((frame.rank[:, last] > 0) & (frame.rank[:, last] <= 10), 1.0, 0.0)
    machine, both = alone(frame, loved), by(frame, grades, 300, loved)
    found = three_ways.by_machine_alone(machine, both)
    # The noisiest system is no better than any other.
    assert {("s3", f"s{place}") for place in range(3)} <= set(found.itertuples(index=False))
    titles = {f"s{place}": f"S{place}" for place in range(4)}
    said = three_ways.said(found, "fan", titles)
    assert (
        said.startswith(f"{len(found)} pairs would be significant by fan without correction")
        and "S3" in said
    )
    few = three_ways.said(found, "fan", titles, corrected=False)
    assert "corrected:" not in few and few.endswith(
        "The sample is still too small for a correction."
    )


def test_by_hand() -> None:
    """Frame TWO: p a, p b, p c, q a, q b, q c, q d; `one` has ab in both, `two` ac and cd."""
    found = alone(TWO, np.array([1.0, 0, 2, 0, 0, 1, 1]), kind("P@2"))
    # One has a of p; two has a and c of p, c and d of q.
    assert found.means.tolist() == [(0.5 + 0) / 2, (1 + 1) / 2]
    assert three_ways.by_machine_alone(found, found).empty
    assert three_ways.said(three_ways.by_machine_alone(found, found), "gpt", {}) == (
        "No pair is significant only by gpt without correction."
    )


def test_a_machine_that_loves_a_system_is_off_where_that_found_the_document() -> None:
    frame, grades = drawn(60, 10, seed=5)
    loved = np.where((frame.rank[:, 3] > 0) & (frame.rank[:, 3] <= 10), 1.0, 0.0)
    batch = sampling.order(np.ones(frame.n), np.zeros(frame.n, bool), 1).first(300)
    known = np.full(frame.n, np.nan)
    known[batch.rows] = grades[batch.rows]
    weights = corrected.expansions([batch], ~np.isnan(known))
    titles = {name: name.upper() for name in frame.systems}
    words = np.arange(frame.n, dtype=float)
    rows, kappas = three_ways.errors(frame, (known, loved), weights, titles, words)
    found = rows.set_index("group").to_dict("index")
    assert weights.sum() == pytest.approx(frame.n, rel=0.1)
    assert found["found by S3"]["said_relevant"] == 1 > found["found by S0"]["said_relevant"]
    assert found["found by S3"]["off"] > found["found by S0"]["off_high"]
    assert kappas["kappa"] < 0.3 and len([name for name in found if "words" in str(name)]) == 2
    shown = under(three_ways.ERRORS, rows)
    assert shown["Too high"].str.endswith("%").all()

"""Agreement on the Holes page, in words and tables."""

import math

from pandas import DataFrame

from compute.views.holes import agreement as figures
from tests.support.holes import words
from tests.views.records import under

KAPPAS = DataFrame(
    [("ada", "bob", 12, 0.75, 0.5, -0.25, 0.875), ("ada", "eve", 1, 1.0, *[math.nan] * 3)],
    columns=["person", "other", "n_pairs", "same", "kappa", "low", "high"],
)


def test_kappa_in_a_table() -> None:
    table = under(figures.KAPPAS, KAPPAS)
    assert table.iloc[0].tolist() == ["ada", "bob", "12", "75%", ".50", "−.25 to .88"]
    assert table.iloc[1].tolist() == ["ada", "eve", "1", "100%", "–", "–"]


def test_alpha_in_words() -> None:
    row = {"n_pairs": 1200, "n_people": 3, "alpha": 0.625, "low": 0.5, "high": 0.75}
    said = words(figures.alpha_note({**row}, "linear"))
    assert said.startswith(
        "All 3 assessors: ordinal Krippendorff's alpha .62 (.50 to .75) over 1,200 pairs"
    )
    assert "Kappa: a difference of two grades counts twice as much as one." in said
    two = words(figures.alpha_note({**row, "n_people": 2, "n_pairs": 1}, "none"))
    assert two.startswith("Both assessors") and "over 1 pair judged" in two
    assert "undefined" in words(figures.alpha_note({**row, "alpha": math.nan}, "none"))


def test_disagreements_name_who_gave_what() -> None:
    pairs = DataFrame(
        [("q1", "d1", {"bob": 0, "ada": 2}, None), ("q2", "d9", {"ada": 1, "bob": 0}, 1)],
        columns=["query_id", "doc_id", "labels", "settled"],
    ).astype({"settled": "Int64"})
    told = pairs.assign(labels=pairs["labels"].map(figures.given))
    assert under(figures.DISAGREEMENTS, told).values.tolist() == [
        ["q1", "d1", "ada 2, bob 0", ""],
        ["q2", "d9", "ada 1, bob 0", "1"],
    ]
    shown = [figures.option(row) for row in pairs.to_dict("records")]
    assert shown == ["q1 · d1: ada 2, bob 0", "q2 · d9: ada 1, bob 0, settled as 1"]

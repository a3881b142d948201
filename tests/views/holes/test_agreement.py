"""Agreement on the page Holes: in words and tables, and disagreements settled."""

import math
from pathlib import Path

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.judgements import ADJUDICATION, PERSON
from compute.judgements.agreement import disagreements
from compute.judgements.machines import KIND
from compute.store.store import Store
from compute.views.holes import agreement as figures
from tests.support.holes import captions, fill, opened
from tests.support.pages import noted

EVIL = "<b>*bob*"
KAPPAS = DataFrame(
    [("ada", "bob", 12, 0.75, 0.5, -0.25, 0.875), ("ada", "eve", 1, 1.0, *[math.nan] * 3)],
    columns=["person", "other", "n_pairs", "same", "kappa", "low", "high"],
)


def given(home: Path, person: str, *grades: int) -> None:
    """Grades of a person for the pairs of q1 with d2, d3, d4."""
    rows = DataFrame({"doc_id": ["d2", "d3", "d4"][: len(grades)], "relevance": grades})
    about = {"dataset": "tiny", "query_id": "q1", "person": person, "source": PERSON}
    Store(Settings(home=home)).add_judgements(rows.assign(task="", guideline_version="", **about))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people who disagree on one of three pairs; one of them has a hostile name."""
    folder = fill(tmp_path_factory.mktemp("agreement"))
    given(folder, "ada", 2, 0, 1)
    given(folder, EVIL, 0, 0, 1)
    return folder


def test_kappa_in_a_table() -> None:
    table = figures.kappa_table(KAPPAS)
    assert table.iloc[0].tolist() == ["ada", "bob", 12, "75%", ".50", "−.25 to .88"]
    assert table.iloc[1].tolist() == ["ada", "eve", 1, "100%", "–", "–"]


def test_alpha_in_words() -> None:
    row = {"n_pairs": 1200, "n_people": 3, "alpha": 0.625, "low": 0.5, "high": 0.75}
    assert "All 3 people together: agreement .62 (.50 to .75)" in figures.alpha_line({**row})
    assert "1,200 pairs" in figures.alpha_line({**row})
    two = figures.alpha_line({**row, "n_people": 2, "n_pairs": 1})
    assert two.startswith("Both people together") and "over 1 pair that" in two
    assert "not defined" in figures.alpha_line({**row, "alpha": math.nan})


def test_disagreements_name_who_gave_what() -> None:
    pairs = DataFrame(
        [("q1", "d1", {"bob": 0, "ada": 2}, None), ("q2", "d9", {"ada": 1, "bob": 0}, 1)],
        columns=["query_id", "doc_id", "labels", "settled"],
    ).astype({"settled": "Int64"})
    assert figures.disagreement_table(pairs).values.tolist() == [
        ["q1", "d1", "ada 2, bob 0", ""],
        ["q2", "d9", "ada 1, bob 0", "1"],
    ]
    shown = [figures.option(row) for row in pairs.to_dict("records")]
    assert shown == ["q1 · d1: ada 2, bob 0", "q2 · d9: ada 1, bob 0, settled as 1"]


def test_a_machine_stands_beside_people(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Settings(home=home))
    # Officially d1 has grade 2 for q1; ada and another gave d3 and d4 a 0 and a 1.
    rows = [("q1", "d1", 2), ("q1", "d3", 0), ("q1", "d4", 0), ("q9", "d1", 1)]
    grades = DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    about = {"dataset": "tiny", "system": EVIL, "fingerprint": "f"}
    with store.publishing("grades") as parts:
        parts.add(KIND, grades, **about, provenance={})
    app = opened(home, monkeypatch, dataset="tiny")
    assert "How far machines agree with people" in [heading.value for heading in app.header]
    tables = [frame.value for frame in app.dataframe]
    told = next(table for table in tables if "Weighted kappa (95%)" in table)
    columns = ["Machine", "Compared with", "Pairs of both", "Same grade"]
    assert told[columns].values.tolist() == [
        [EVIL, "official", 1, "100%"],
        [EVIL, "people here", 2, "50%"],
    ]
    confused = next(table for table in tables if "Grade by people" in table)
    assert confused.drop(columns="Machine").values.tolist() == [
        ["official", 2, 0, 1],
        ["people here", 0, 1, 0],
        ["people here", 1, 1, 0],
    ]
    with store.publishing("remove") as parts:
        parts.remove(KIND, "tiny", EVIL)
    app = opened(home, monkeypatch, dataset="tiny")
    assert "How far machines agree with people" not in [heading.value for heading in app.header]


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_without_two_people_there_is_no_agreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path)
    given(folder, "ada", 1)
    app = opened(folder, monkeypatch, dataset="tiny")
    assert "How far people agree" not in [heading.value for heading in app.header]


def test_a_disagreement_is_settled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(home, monkeypatch, dataset="tiny")
    assert "How far people agree" in [heading.value for heading in app.header]
    table = next(frame.value for frame in app.dataframe if "Cohen's kappa" in frame.value)
    assert table["Pairs both judged"].tolist() == [3]
    assert "Krippendorff's alpha" in captions(app)
    assert "[1 disagreement between people to settle](#agreement)" in app.markdown[0].value
    assert not [name for name in buttons(app) if name.endswith("relevant")], "who settles?"
    app.text_input(key="_annotator_field").set_value("eve")
    next(button for button in app.button if button.label == "Continue").click().run()
    next(button for button in app.button if button.key == "settle_1").click().run()
    assert "Settled as" in app.toast[0].value
    assert not app.exception
    rows = Store(Settings(home=home)).added_judgements()
    last = rows.iloc[-1]
    assert (last["person"], last["source"], last["relevance"]) == ("eve", ADJUDICATION, 1)
    assert disagreements(rows)["settled"].tolist() == [1]
    for element in (*app.markdown, *noted(app)):
        assert EVIL not in element.value, "a name from outside must not be read as Markdown"

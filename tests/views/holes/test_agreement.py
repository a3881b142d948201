"""Agreement on the page Holes: in words and tables, and disagreements settled."""

import math
from pathlib import Path

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.judgements import ADJUDICATION, PERSON
from compute.judgements.agreement import disagreements
from compute.judgements.machine_grades import KIND
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


def test_two_judgement_sets_stand_side_by_side(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Settings(home=home))
    # Officially d1 has grade 2 for q1, d2 and d3 1 for q2, d6 1 for q3; ada judged q1 alone.
    rows = [("q1", "d1", 0), ("q1", "d4", 2), ("q2", "d3", 1), ("q2", "d2", 0), ("q3", "d6", 1)]
    grades = DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    about = {"dataset": "tiny", "system": EVIL, "fingerprint": "f"}
    with store.publishing("grades") as parts:
        parts.add(KIND, grades, **about, provenance={"file": EVIL})
    app = opened(home, monkeypatch, dataset="tiny", measure="P@5", set="official")
    tables = [frame.value for frame in app.dataframe]
    listed = next(table for table in tables if "Pairs by grade" in table)
    assert f"Machine {EVIL}" in listed["Set"].tolist() and "Person ada" in listed["Set"].tolist()
    assert app.selectbox(key="set").value == "official"
    assert app.selectbox(key="beside").value == f"machine:{EVIL}"
    board = next(table for table in tables if "Rank by Official" in table)
    # q1, q2, q3 by the machine: sure finds none, d3 and d6; the other d4, none and nothing.
    machine = dict(zip(board["System"], board[f"Machine {EVIL}"], strict=True))
    assert machine["sure"] == pytest.approx((0 + 1 + 1) / 15)
    apart = next(table for table in tables if f"Machine {EVIL}" in table and "Query" in table)
    assert apart.to_numpy().tolist() == [["q1", "d1", 2, 0], ["q2", "d2", 1, 0]]
    assert app.selectbox(key="pair").value == "q1 d1"
    said = " ".join(part.value for part in app.markdown).replace("\\", "")
    assert f"Official: 2 · Official + added: 2 · Machine {EVIL}: 0" in said
    app.selectbox(key="beside").select("person:ada").run()
    assert app.query_params["beside"] == "person:ada"
    assert "no pair is judged by both Official and Person ada" in captions(app)
    wrong = opened(home, monkeypatch, dataset="tiny", beside="person:ad")
    assert "No judgement set here is called person:ad" in wrong.warning[0].value.replace("\\", "")
    for element in (*app.markdown, *noted(app)):
        assert EVIL not in element.value, "a name from outside must not be read as Markdown"
    with store.publishing("remove") as parts:
        parts.remove(KIND, "tiny", EVIL)


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


def test_sets_without_a_common_pair_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path)
    rows = DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d6", "d6"], "relevance": [1, 0]})
    with Store(Settings(home=folder), tmp_path / "none").publishing("grades") as parts:
        about = {"dataset": "tiny", "system": "gpt", "fingerprint": "gpt"}
        parts.add(KIND, rows, **about, provenance={"file": "g.csv"})
    app = opened(folder, monkeypatch, dataset="tiny")
    assert "no pair is judged by both Official and Machine gpt" in captions(app)
    assert "that both sets evaluate" not in captions(app)

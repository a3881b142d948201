"""The Holes page in Streamlit: a disagreement is settled, hostile names are no markup."""

from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.settings import Settings
from compute.judgements import ADJUDICATION, PERSON
from compute.judgements.agreement import disagreements
from compute.store.store import Store
from tests.support import sampling as made_up
from tests.support.holes import captions, fill, opened
from tests.support.pages import noted

EVIL = "<b>*bob*"


@pytest.mark.long
def test_a_disagreement_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Settings(home=fill(tmp_path)))
    for person, grade in (("ada", 2), (EVIL, 0)):
        rows = DataFrame({"doc_id": ["d2", "d3"], "relevance": [grade, 0]})
        about = {"dataset": "tiny", "query_id": "q1", "person": person, "source": PERSON}
        store.add_judgements(rows.assign(task="", guideline_version="", **about))
    app = opened(
        store.settings.home, monkeypatch, dataset="tiny", set=f"person:{EVIL}", weights="none"
    )
    assert "1 disagreement to settle" in {button.label for button in app.button}
    labels = [button.label for button in app.button]
    assert not [name for name in labels if name.endswith("relevant")], "who settles?"
    app.text_input(key="_annotator_field").set_value("eve")
    next(button for button in app.button if button.label == "Continue").click().run()
    next(button for button in app.button if button.key == "settle_1").click().run()
    assert "Settled as" in app.toast[0].value
    assert not app.exception
    rows = store.added_judgements()
    last = rows.iloc[-1]
    assert (last["person"], last["source"], last["relevance"]) == ("eve", ADJUDICATION, 1)
    assert disagreements(rows)["settled"].tolist() == [1]
    for element in (*app.markdown, *noted(app)):
        assert EVIL not in element.value, "a name from outside must not be read as Markdown"
    assert app.selectbox(key="set").value == f"person:{EVIL}"
    app.selectbox(key="beside").select("added").run()
    assert app.query_params["beside"] == "added"
    wrong = opened(
        store.settings.home, monkeypatch, dataset="tiny", measure="P@5", systems=["sure", "nix"]
    )
    assert wrong.selectbox(key="measure").value == "P@5"
    assert "No run on tiny here is called nix" in wrong.warning[0].value


def test_estimates_name_their_sample_and_lead_to_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    app = opened(tmp_path / "home", monkeypatch, dataset=made_up.DATASET, half="0.05")
    (sample,) = app.session_state["_run"].rests_on.samples
    assert dict(sample)["task"] == task.id
    assert "For a margin of error of a score of at most" in captions(app)

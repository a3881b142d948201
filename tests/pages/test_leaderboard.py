"""The Leaderboard as the dashboard draws it: its controls, what they leave, and what the address
names; what it shows is asked in `tests/views/leaderboard/test_page.py`."""

from pathlib import Path

import pytest

from pages._frame import menu
from tests.support.filled import HOSTILE
from tests.support.pages import address_of, button_named, noted, opened, words_of
from tests.views.leaderboard import boards


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return boards.judged(tmp_path_factory.mktemp("boards") / "home")


@pytest.fixture(autouse=True)
def home(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(judged))


def test_the_ways_to_start_stay_on_the_front_page_until_a_run_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert menu.WHAT not in words_of(opened())
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    for address in ({}, {"numbers": "Published", "view": "Table"}):
        assert menu.WHAT in words_of(opened(**address))
    assert menu.WHAT not in words_of(opened("holes"))


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_from_own_datasets_to_all_to_what_is_printed() -> None:
    app = opened()
    button_named(app, "Show the scores of your own runs").click().run()
    assert app.multiselect(key="group").value == ["own"]
    assert app.get("popover")[0].proto.popover.label == "Filter (1)"
    assert address_of(app)["numbers"] == ["Computed"] and address_of(app)["group"] == ["own"]
    assert HOSTILE in words_of(app)
    assert all(HOSTILE not in one.value for one in (*app.markdown, *noted(app)))
    app.multiselect(key="group").set_value([]).run()
    app.selectbox(key="numbers").set_value("Published").run()
    app.selectbox(key="table").set_value("BEIR v4, Table 9").run()
    app.selectbox(key="measure").set_value("R_cap@100").run()
    app.selectbox(key="view").set_value("Table").run()
    assert "Mean" in app.dataframe[0].value and app.selectbox(key="colour").disabled
    # Choosing another table is no wrong address, though it lacks the measure.
    app.selectbox(key="table").set_value("BEIR v4, Table 2").run()
    assert not app.warning and not app.exception
    assert app.selectbox(key="measure").value == "nDCG@10"


def test_what_the_address_names_is_chosen_and_wrong_names_are_said_above() -> None:
    given = {"table": "BEIR-PL, Table 4", "colour": "Against the baseline", "family": "dense"}
    app = opened(numbers="Published", **given)
    assert app.selectbox(key="table").value == "BEIR-PL, Table 4"
    assert app.selectbox(key="colour").value == "Against the baseline"
    assert app.multiselect(key="family").value == ["dense"]
    wrong = dict.fromkeys(("numbers", "colour", "group", "family", "baseline"), "Computer")
    app = opened(**wrong)
    assert [one.value.replace("\\", "").partition(" here")[0] for one in app.warning] == [
        *("No kind of scores", "No colour", "No group", "No family of systems", "No system"),
    ]
    assert "Did you mean Computed?" in app.warning[0].value and app.get("plotly_chart")


def test_on_a_phone_the_headline_is_of_the_list_that_the_address_names() -> None:
    phone = {"_scheme": {"narrow": True}}
    app = opened("leaderboard", phone, numbers="Published", list_cells="ArguAna")
    said = " ".join(one.proto.body for one in app.get("html"))
    assert "GenQ ranks first on ArguAna (.493)." in said and "best average" not in said
    assert not {"view", "colour"} & {one.key for one in app.selectbox}
    app.selectbox(key="list_cells").set_value("NQ").run()
    assert app.query_params["list_cells"] == "NQ"

"""The Holes page as records, on tiny stores."""

from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.settings import Settings
from compute.exports import pages
from compute.judgements import IMPORT, PERSON
from compute.judgements.machine_grades import KIND
from compute.store.store import Store
from compute.views.about import view_provenance
from compute.views.holes.page import page
from compute.views.page import Button, Figure, Message, Table, Widget, find
from compute.views.page.store_ask import opened
from tests.support import sampling as made_up
from tests.support.holes import fill, found, heads, judge, shown, words
from tests.views.records import written

BOB = "<b>*bob*"
GRADES = [("q1", "d1", 2), ("q1", "d3", 0), ("q1", "d4", 0), ("q9", "d1", 1)]


def given(home: Path, person: str, *grades: int) -> None:
    """Grades of a person for the pairs of q1 with d2, d3, d4."""
    rows = DataFrame({"doc_id": ["d2", "d3", "d4"][: len(grades)], "relevance": grades})
    about = {"dataset": "tiny", "query_id": "q1", "person": person, "source": PERSON}
    Store(Settings(home=home)).add_judgements(rows.assign(task="", guideline_version="", **about))


def graded(home: Path, machine: str, *rows: tuple[str, str, int]) -> Path:
    """Grades of a machine."""
    grades = DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    about = {"dataset": "tiny", "system": machine, "fingerprint": "f"}
    with Store(Settings(home=home), home / "none").publishing("grades") as parts:
        parts.add(KIND, grades, **about, provenance={"file": machine})
    return home


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 judgements were added: one hole relevant, the others never retrieved."""
    home = fill(tmp_path_factory.mktemp("judged"))
    judge(home, ("q1", "d6", 1), *(("q1", f"never {n}", 0) for n in range(49)))
    return home


@pytest.fixture(scope="module")
def agreed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people disagree on one of three pairs, and a machine graded some."""
    home = fill(tmp_path_factory.mktemp("agreed"))
    given(home, "ada", 2, 0, 1)
    given(home, BOB, 0, 0, 1)
    return graded(home, BOB, *GRADES)


@pytest.mark.long
def test_relevant_documents_alone_cannot_tell_everything(judged: Path) -> None:
    of = shown(judged, dataset="tiny")
    assert sum(isinstance(one, Figure) for one in of) == 4
    said = words(*of)
    assert "The official qrels contain only relevant documents" in said
    assert "any grade, 0 to 2" in said and "2 stored runs" in said
    assert "Pairs whose order could flip, of 1: 0 (top k), 0 (pool), 1 (corpus)." in said
    assert "the corpus of 6." in said
    of = shown(judged, dataset="tiny", added=True)
    assert "optimistic" in words(*of)
    assert "contain only relevant" not in words(*of)


@pytest.mark.parametrize("added", [False, True])
def test_before_and_after_whatever_the_switch_says(judged: Path, added: bool) -> None:
    of = shown(judged, dataset="tiny", added=added)
    table = found(of, "before-after").shown
    assert "also 50 added" in words(*of)
    assert (table["Hole@10 before"] > table["after "]).any()
    assert "ANCE" in found(of, "published-effect").shown["System"].tolist()
    assert heads(of)[-1] == "Score change from added judgements"
    assert "may come from a different pool" in words(*of)


@pytest.mark.long
def test_where_nothing_is_added_or_counts_the_page_says_what_to_do(tmp_path: Path) -> None:
    of = shown(home := fill(tmp_path), dataset="tiny")
    (message,) = [one for one in of if isinstance(one, Message)]
    assert message.text == "No judgements have been added yet."
    (button,) = [one for one in of if isinstance(one, Button)]
    assert button.label == "Create a judging task"
    assert button.opens.of() == {"view": "new", "dataset": "tiny"}
    judge(home, ("q3", "d6", 1), source=IMPORT)
    said = words(*shown(home, dataset="tiny"))
    assert "Not counted: 1 added judgement. To count them, use How" in said
    assert "No ranked lists are stored yet" in words(*shown(tmp_path / "empty"))


def test_one_system_alone_has_no_order_and_makes_no_pool(judged: Path) -> None:
    of = shown(judged, dataset="tiny", measure="P@5", systems=["sure"])
    assert [one.key for one in of if isinstance(one, Figure)] == ["intervals", "ranks"]
    assert "top 5" in words(*of) and "Pool bias: leave one system out" not in heads(of)


@pytest.mark.long
def test_people_and_a_machine_stand_beside_each_other(agreed: Path, tmp_path: Path) -> None:
    of = shown(agreed, dataset="tiny")
    assert found(of, "kappas").shown["Pairs judged by both"].tolist() == [3]
    assert "Krippendorff's alpha" in words(*of)
    assert "1 disagreement to settle" in {one.label for one in of if isinstance(one, Button)}
    (form,) = [one for one in of if isinstance(one, Widget) and one.name == "settle"]
    assert [row["doc_id"] for row in form.values["rows"]] == ["d2"]
    told = written(found(of, "machines"))
    columns = ["LLM", "Compared with", "Pairs graded by both", "Same grade"]
    assert told[columns].values.tolist() == [
        [BOB, "official", "1", "100%"],
        [BOB, "people here", "2", "50%"],
    ]
    confused = found(of, "confusions").shown
    assert confused.drop(columns="LLM").values.tolist() == [
        ["official", 2, 0, 1],
        ["people here", 0, 1, 0],
        ["people here", 1, 1, 0],
    ]
    alone = fill(tmp_path)
    given(alone, "ada", 1)
    people = "Agreement between assessors"
    assert people in heads(of) and people not in heads(shown(alone, dataset="tiny"))


@pytest.mark.long
def test_two_judgement_sets_stand_side_by_side(tmp_path: Path) -> None:
    home = fill(tmp_path)
    given(home, "ada", 2, 0, 1)
    # Officially d1 has grade 2 for q1, d2 and d3 1 for q2, d6 1 for q3; ada judged q1 alone.
    rows = [("q1", "d1", 0), ("q1", "d4", 2), ("q2", "d3", 1), ("q2", "d2", 0), ("q3", "d6", 1)]
    graded(home, BOB, *rows)
    of = shown(home, dataset="tiny", measure="P@5", set="official")
    assert {f"Machine {BOB}", "Person ada"} <= set(found(of, "sets").shown["Set"])
    board = found(of, "set-boards").shown
    # q1, q2, q3 by the machine: sure finds none, d3 and d6; the other d4, none and nothing.
    machine = dict(zip(board["System"], board[f"Machine {BOB}"], strict=True))
    assert machine["sure"] == pytest.approx((0 + 1 + 1) / 15)
    apart = found(of, "set-grades").shown
    assert apart.to_numpy().tolist() == [["q1", "d1", 2, 0], ["q2", "d2", 1, 0]]
    assert f"Official: 2 · Official + added: 2 · Machine {BOB}: 0" in words(*of)
    assert "ships in the harbour" in words(*of) and "at dawn" in words(*of)
    of = shown(home, dataset="tiny", beside="person:ada")
    assert "no pair is judged by both Official and Person ada" in words(*of)
    assert "that both sets evaluate" not in words(*of)
    with pytest.raises(Missing, match="No judgement set here is called person:ad"):
        shown(home, dataset="tiny", beside="person:ad")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("dataset", "No dataset with ranked lists here is called nDCG"),
        ("measure", "No measure with an interval here is called nDCG"),
        ("systems", "No run on tiny here is called nDCG"),
    ],
)
def test_wrong_names_are_said(judged: Path, key: str, said: str) -> None:
    with pytest.raises(Missing, match=said):
        shown(judged, added=False, **{"dataset": "tiny", key: "nDCG"})


@pytest.mark.long
@pytest.mark.parametrize(("n", "enough"), [(6, False), (150, True)])
def test_estimates_say_what_the_core_says(n: int, enough: bool, tmp_path: Path) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, n)
    with pages.asked(store, "holes", {"dataset": [made_up.DATASET]}) as view:
        of = [one.part for one in view.every()]
    record = view_provenance.record(store, view.rests_on, version=(1, n))
    about = {"task": task.id, "frame": frame.identity, "n_frame": frame.n, "goal": "scores"}
    about |= {"seed": 7, "predictor": "ranks-1", "n_judged": n}
    assert task.measure in record["measures"] and record["samples"] == [about]
    numbers = found(of, "estimated-numbers").shown
    assert numbers[["Estimate", "SE"]].notna().all(axis=None)
    assert numbers["These queries: low"].isna().all() != enough
    of = shown(tmp_path / "home", dataset=made_up.DATASET)
    assert "Estimated scores (sample)" in heads(of)
    said = words(*of)
    assert f"{n} of {n} sampled documents judged, drawn from" in said
    assert f"of the {frame.n:,} in the lists." in said
    assert f"seed 7, predictor ranks-1, frame {frame.identity}" in said
    (told,) = [one.finding for one in of if isinstance(one, Figure) and one.key == "estimates"]
    assert ("±" in told and "of 6 pairs differ significantly" in told) == enough
    assert ("at least 30 of each are needed" in told) != enough
    assert ("The 95% CI covers sampling error" in said) == enough
    leads = {one.label: one.opens.names for one in of if isinstance(one, Button)}
    waiting = task.n_pairs > n
    ways = {"Continue judging": "task", "Draw more documents to judge": "about"}
    for place, (label, key) in enumerate(ways.items()):
        assert leads.get(label) == ({key: task.id} if place != waiting else None)


@pytest.mark.long
def test_estimates_are_of_other_measures_too_and_drawn_anew_while_people_judge(
    tmp_path: Path,
) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    made_up.judge(store, made_up.make(store, frame), frame, grades, 150)
    named: dict[str, Any] = {"dataset": made_up.DATASET}
    said = words(*shown(tmp_path / "home", estimated="DCG@10", half="0.05", **named))
    assert "For a margin of error of a score of at most" in said
    assert "Queries like these" in said
    said = words(*shown(tmp_path / "home", estimated="R@10", **named))
    assert "This measure has no interval" in said
    assert "The ideal list contains documents" in said


@pytest.mark.long
@pytest.mark.parametrize("made", [False, True])
def test_without_a_task_or_with_other_runs_nothing_is_estimated(tmp_path: Path, made: bool) -> None:
    store, frame, _ = made_up.fill(tmp_path / "home", n_queries=6)
    if made:
        made_up.make(store, frame)
        made_up.fill(tmp_path / "home", n_queries=7)
    of = shown(tmp_path / "home", dataset=made_up.DATASET)
    assert ("Estimated scores (sample)" in heads(of)) == made
    assert ("have changed, so nothing can be estimated" in words(*of)) == made
    assert not [one for one in of if isinstance(one, Table) and one.key == "estimates"]


@pytest.mark.long
def test_a_search_finds_every_part_by_its_section(tmp_path: Path) -> None:
    agreed = graded(fill(tmp_path), BOB, ("q1", "d1", 0), ("q2", "d2", 0), ("q3", "d6", 1))
    given(agreed, "ada", 2, 0)
    given(agreed, BOB, 0, 0)
    chosen = {"dataset": "tiny", "weights": "linear", "set": "official", "pair": "q1 d1"}
    keys = [one.key for one in shown(agreed, **chosen) if isinstance(one, Figure | Table)]
    assert {"intervals", "kappas", "machines", "set_ranks", "left_out"} <= set(keys)
    with opened(Store(Settings(home=agreed, threads=1), agreed / "none")) as ask:
        for key in keys:
            assert find(page, ask, key, **chosen).part.key == key


@pytest.mark.long
def test_files_count_the_added_judgements_that_the_address_names(tmp_path: Path) -> None:
    home = fill(tmp_path)
    judge(home, ("q3", "d6", 1), ("q1", "d6", 1), source=IMPORT)
    store = Store(Settings(home=home, threads=1), home / "none")

    def keys(**more: str) -> set[str]:
        given = {"dataset": ["tiny"]} | {key: [value] for key, value in more.items()}
        with pages.asked(store, "holes", given) as view:
            return {one.part.key for one in view.every()}

    assert "before-after" not in keys() | keys(sources="person")
    assert "before-after" in keys(sources="import"), "official ones count, added stand beside"
    assert "before-after" not in keys(sources="", judgements="added")

"""The Judge page without a browser: tasks are made, listed, opened; a hole judged in place."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.errors import Conflict
from compute.base.settings import Settings
from compute.intake import imports
from compute.jobs import removing
from compute.judgements import IN_VIEW, resolve
from compute.judgements.orders import NAMES
from compute.judgements.tasks import queue, samples, tasks
from compute.recompute.run import Bench
from compute.store.store import Store
from compute.views.annotate import tables as figures
from tests.support import filled, pages
from tests.support.annotating import (
    ADA,
    N_QUERIES,
    answer,
    good_and_poor,
    guidelines,
    judge_pair,
    made,
    pair_task,
)
from tests.support.pages import noted
from tests.support.tiny import HOSTILE, write_tiny

LISTS = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d3 1 2.0 t\nq2 Q0 d4 2 1.0 t\nq3 Q0 d6 1 1.0 t\n"
NAME = "sentinel-system"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection and one run: its holes are (q1, d2) and (q2, d4)."""
    bench = filled.bench(tmp_path_factory.mktemp("annotate"))
    filled.take(bench, {NAME: LISTS})
    bench.store.close()
    return bench.settings.home


@pytest.fixture
def store(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of a copy of that home, where the dashboard looks."""
    own = shutil.copytree(home, tmp_path / "home")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(own))
    return Store(Settings(home=own, threads=1))


def opened(page: str, person: str = "", **address: str) -> AppTest:
    return pages.visited(page, {"_annotator": person} if person else {}, **address)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    elements = (*app.markdown, *noted(app), *app.info, *app.warning, *app.error, *app.header)
    return "\n".join(element.value for element in elements).replace("\\", "")


def test_without_a_task_the_page_says_what_one_is(store: Store) -> None:
    assert "There are no tasks yet" in shown(opened("annotate"))
    assert "computes some" not in shown(opened("annotate", "ada", view="new"))


def test_judging_without_texts_leads_to_what_adds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled.bench(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 1\nq3 0 d6 1\n", "utf-8")
    alone = imports.import_dataset(bench, "alone", qrels=tmp_path / "qrels.txt").dataset
    filled.add(bench, alone, {NAME: LISTS})
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    listed = opened("annotate")
    assert "No stored dataset has texts yet: assessors would see ids" in shown(listed)
    assert "Add texts" in [button.label for button in listed.button]
    new = opened("annotate", "ada", view="new")
    assert new.selectbox[0].options == ["alone (ids only)"]
    page = opened("query", dataset="alone")
    documents = [button.help for button in page.button if button.label == "Add texts"][1:]
    assert documents and all("Import documents such as d" in told for told in documents)
    (warning,) = new.warning
    assert "alone has no texts" in warning.value
    (link,) = (button for button in new.button if button.label == "Add texts")
    assert "BEIR archive; Fetch downloads archives" in link.help


def test_a_new_task_says_that_it_is_blind(store: Store) -> None:
    said = shown(opened("annotate", "ada", view="new", dataset="tiny"))
    assert "Blind: assessors never see systems, ranks or scores." in said
    assert (
        "30 non-relevant documents (for nDCG, also one relevant document per query): 60 judgements"
        in said
    )
    assert "No stored dataset has texts yet" not in shown(opened("annotate"))


def test_every_order_has_words() -> None:
    assert set(figures.ORDERS) == set(NAMES)


def test_a_task_is_made_at_the_page(store: Store) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    numbers = {field.label: field for field in app.number_input}
    numbers["Documents to judge"].set_value(1)
    areas = {field.label: field for field in app.text_area}
    areas["Assessors (one per line; empty = anyone)"].set_value("ada\n\n bob  byron\nada")
    press(app, "Create task")
    assert (
        app.toast[0].value.replace("\\", "").startswith("Task created: Unjudged documents of tiny.")
    )
    (task,) = tasks.tasks(store)
    assert (task.dataset, task.systems, task.n_pairs) == ("tiny", (NAME,), 1)
    assert (task.person, task.annotators) == ("ada", ("ada", "bob byron"))
    assert task.grades == ((0, "Not relevant"), (1, "Partly relevant"), (2, "Highly relevant"))
    assert "- **Partly relevant**: it partly helps." in task.guideline


def test_a_sampled_task_is_made_at_the_page(store: Store) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    fields = {field.label: field for field in app.selectbox}
    assert fields["Baseline"].options == app.multiselect[0].options
    app.multiselect[0].set_value([]).run()
    fields = {field.label: field for field in app.selectbox}
    assert fields["Baseline"].options == []
    app.multiselect[0].set_value([NAME]).run()
    fields = {field.label: field for field in app.selectbox}
    fields["Priority"].set_value("sampled")
    fields["Measure"].set_value("nDCG@10")
    press(app, "Create task")
    (task,) = tasks.tasks(store)
    assert (task.order, task.measure, task.goal, task.baseline) == (
        "sampled",
        "nDCG@10",
        "scores",
        "",
    )
    assert len(samples.stored(store, task.id)[0].pairs) >= task.n_pairs


def test_an_audit_is_made_at_the_page_and_drawn_once(store: Store) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    fields = {field.label: field for field in app.selectbox}
    fields["Priority"].set_value("sampled")
    fields["Estimate"].set_value("audit")
    press(app, "Preview precision")
    assert "if 5% of a grade's labels are graded differently" in app.info[0].value
    press(app, "Create task")
    (task,) = tasks.tasks(store)
    assert (task.goal, task.measure, task.baseline) == ("audit", "nDCG@10", "")
    assert task.title == "Audit of tiny"
    assert not [button for button in app.button if button.label == "Draw"]


def test_a_sampled_task_is_sampled_on_at_its_page(store: Store) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    {field.label: field for field in app.selectbox}["Priority"].set_value("sampled")
    press(app, "Create task")
    (task,) = tasks.tasks(store)
    app = opened("annotate", "ada", about=task.id)
    {field.label: field for field in app.number_input}["Additional documents"].set_value(2)
    press(app, "Draw")
    assert [batch.number for batch in samples.stored(store, task.id)] == [1, 2]
    assert not app.exception
    # An operator's fault is one sentence.
    {field.label: field for field in app.number_input}["Additional documents"].set_value(0)
    press(app, "Draw")
    (error,) = app.error
    assert error.value.startswith("Ask for 1 to 50,000 documents to judge")


@pytest.mark.long
def test_before_a_task_is_made_the_page_says_what_a_sample_should_give(store: Store) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    numbers = {field.label: field for field in app.number_input}
    numbers["Documents to judge"].set_value(1)
    press(app, "Preview precision")
    assert "Expected 95% margin of error for P@10 of a system" in shown(app)
    assert "1 judgement: too few for an interval;" in shown(app) and tasks.tasks(store) == []
    {field.label: field for field in app.selectbox}["Measure"].set_value("nDCG@10")
    press(app, "Preview precision")
    assert "With more than two grades the margin of error for nDCG@10 cannot be predicted" in shown(
        app
    )


def test_the_list_says_how_many_judgements_are_wanted_where_two_judge_a_part(store: Store) -> None:
    made(store, double_share=0.5)
    assert "6 documents, nothing judged yet of 9 judgements" in shown(opened("annotate", "ada"))


@pytest.mark.long
def test_an_untouched_guideline_follows_the_grades_and_an_own_one_stays(store: Store) -> None:
    for text, wanted in ((None, "- **Maybe**: it partly helps."), ("My own", "My own"), ("", "")):
        app = opened("annotate", "ada", view="new", dataset="tiny")
        areas = {field.label: field for field in app.text_area}
        areas["Grades, one per line"].set_value("0 No\n1 Maybe\n2 Yes")
        if text is not None:
            areas["Guideline (Markdown)"].set_value(text)
        press(app, "Create task")
        assert wanted in tasks.tasks(store)[0].guideline
    assert tasks.tasks(store)[0].guideline == ""


def test_the_details_say_who_judged_how_much_and_lead_to_what_came_of_it(store: Store) -> None:
    task = made(store)
    app = opened("annotate", "ada", about=task.id)
    assert "There are no judgements yet" in shown(app)
    first, second = queue.exchange(store, task, ADA).held[:2]
    given = [answer(first.id, relevance=2), answer(second.id, "skip")]
    queue.exchange(store, task, ADA, given)
    app = opened("annotate", "ada", about=task.id)
    assert "1 of 6 judgements made." in shown(app)
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["Assessor"], row["Judged"], row["Skipped"]) == ("ada", 1, 1)
    assert row["Each (median)"] == "2.5 s"
    labels = [one.proto.label for one in app.get("download_button")]
    assert labels == ["Added judgements (CSV)", "Added judgements (TREC qrels)"]
    press(app, "Effect on scores")


def test_a_finished_task_asks_for_no_more_judging(store: Store) -> None:
    task = made(store)
    app = opened("annotate", "ada", about=task.id)
    assert _judge(app).proto.type == "primary"
    while held := queue.exchange(store, task, ADA).held:
        queue.exchange(store, task, ADA, [answer(pair.id, relevance=1) for pair in held])
    assert _judge(opened("annotate", "ada", about=task.id)).proto.type == "secondary"


def _judge(app: AppTest) -> Any:
    return next(button for button in app.button if button.label == "Judge")


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("Grades, one per line", "yes", "grade 'yes': write a whole number and a name"),
        ("Task name", " ", "Give the task a name"),
        ("Documents to judge", -5, "Ask for 1 to 50,000 documents to judge."),
        ("Pool depth (k)", 0, "Choose a depth from 1 to 1,000."),
        ("Seed", -1, "Choose a seed from 0 to 2,147,483,647."),
    ],
)
def test_bad_input_is_answered_with_one_sentence(
    store: Store, field: str, value: str | int, said: str
) -> None:
    app = opened("annotate", "ada", view="new", dataset="tiny")
    fields: list[Any] = [*app.text_area, *app.text_input, *app.number_input]
    next(one for one in fields if one.label == field).set_value(value)
    press(app, "Create task")
    assert said in shown(app)
    assert tasks.tasks(store) == []


def test_the_list_and_the_form_name_no_system_but_the_details_do(store: Store) -> None:
    task = made(store, title=HOSTILE, systems=("one",))
    listed, form, details = (
        opened("annotate", "ada"),
        opened("annotate", "ada", task=task.id),
        opened("annotate", "ada", about=task.id),
    )
    for app in (listed, form):
        assert HOSTILE in shown(app)
        assert "one" not in [word for element in app.markdown for word in element.value.split()]
        assert not app.dataframe and not app.multiselect
    assert "6 documents, nothing judged yet" in shown(listed)
    assert "Judging as ada" in shown(form)
    assert "one" in list(details.dataframe[0].value["Value"])


def test_the_details_call_systems_and_the_dataset_by_what_people_read(store: Store) -> None:
    task = made(store, systems=("one",))
    told = figures.facts(task, {"one": "The First", task.dataset: "Tiny"}).set_index("Field")
    assert told.loc[["Dataset", "Systems"], "Value"].tolist() == ["Tiny", "The First"]
    assert told.loc["IDs (CLI)", "Value"] == f"{task.dataset}, one"
    assert "IDs (CLI)" not in set(figures.facts(task, {})["Field"])


def test_nothing_is_saved_on_a_dataset_that_was_removed_or_replaced(
    store: Store, tmp_path: Path
) -> None:
    task, bench = made(store), Bench(store, store.settings)
    names = queue.texts_now(store, "tiny")
    pair = queue.exchange(store, task, ADA).held[0]
    here = answer(pair.id, texts=names)
    removing.remove(store, "tiny")
    with pytest.raises(Conflict, match="tiny was removed: nothing is saved until"):
        queue.exchange(store, task, ADA, [here])
    assert not opened("annotate", "ada", task=task.id).exception
    other = write_tiny(tmp_path / "other")
    corpus = other / "corpus.jsonl"
    corpus.write_text(corpus.read_text("utf-8").replace("Ships", "Boats"), "utf-8")
    imports.import_dataset(bench, "tiny", path=other, replace=True)
    with pytest.raises(Conflict, match="tiny was replaced"):
        queue.exchange(store, task, ADA, [here])
    assert store.added_judgements().empty
    imports.import_dataset(bench, "tiny", path=write_tiny(tmp_path / "tiny"), replace=True)
    assert queue.exchange(store, task, ADA, [here]).judged == 1


def test_who_judges_is_asked_once(store: Store) -> None:
    task = made(store)
    app = opened("annotate", task=task.id)
    assert "not verified" in shown(app)
    press(app, "Continue")
    assert "Enter a name of at most 60 characters." in shown(app)
    app.text_input(key="_annotator_field").set_value("  Ada \n Byron ")
    press(app, "Continue")
    assert "Judging as Ada Byron (not signed in)." in shown(app)
    press(app, "Change")
    assert "not verified" in shown(app)


def test_only_those_who_are_named_may_judge(store: Store) -> None:
    task = made(store, annotators=("bob",))
    assert "ada is not an assessor" in shown(opened("annotate", "ada", task=task.id))


def test_an_address_without_its_task_says_so(store: Store) -> None:
    assert "There is no task with the id nothing" in shown(opened("annotate", task="nothing"))


@pytest.mark.long
def test_a_changed_guideline_is_kept_beside_the_old_one(store: Store) -> None:
    task = made(store, guideline="first")
    app = opened("annotate", "ada", about=task.id)
    app.text_area[0].set_value("second")
    press(app, "Save as a new version")
    assert list(guidelines(store, task.id)["text"]) == ["first", "second"]


@pytest.mark.long
def test_a_hole_is_judged_on_the_page_query_and_taken_back(store: Store) -> None:
    asked = {"dataset": "tiny", "query": "q2", "document": "d4"}
    press(opened("query", "ada", **asked), "Highly relevant")
    (row,) = store.added_judgements().to_dict("records")
    kept = {name: row[name] for name in ("query_id", "doc_id", "relevance", "person", "task")}
    assert kept == {
        "query_id": "q2",
        "doc_id": "d4",
        "relevance": 2,
        "person": "ada",
        "task": IN_VIEW,
    }
    assert (row["source"], row["verified"], row["guideline_version"]) == ("person", 0, "")
    assert "Undo" not in [b.label for b in opened("query", "bob", **asked).button]
    press(opened("query", "ada", **asked), "Undo")
    assert list(store.added_judgements()["source"]) == ["person", "withdrawn"]
    assert "Undo" not in [b.label for b in opened("query", "ada", **asked).button]


@pytest.mark.long
def test_taking_back_on_the_page_query_leaves_the_blind_grade(store: Store) -> None:
    asked = {"dataset": "tiny", "query": "q2", "document": "d4"}
    blind = {"query_id": "q2", "doc_id": "d4", "relevance": 0, "person": "ada", "source": "person"}
    store.add_judgements(
        DataFrame([blind]).assign(dataset="tiny", task="t1", guideline_version="1")
    )
    assert "Undo" not in [b.label for b in opened("query", "ada", **asked).button]
    press(opened("query", "ada", **asked), "Highly relevant")
    assert resolve(store.added_judgements())["relevance"].tolist() == [0]
    press(opened("query", "ada", **asked), "Undo")
    assert len(store.added_judgements()) == 3
    assert resolve(store.added_judgements())["relevance"].tolist() == [0]


@pytest.mark.long
def test_what_is_officially_judged_cannot_be_judged_in_place(store: Store) -> None:
    app = opened("query", "ada", dataset="tiny", query="q2", document="d3")
    assert "Relevant" not in " ".join(button.label for button in app.button)


@pytest.mark.long
def test_the_form_says_when_the_pair_is_decided_but_not_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = good_and_poor(tmp_path, N_QUERIES)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    task = pair_task(bench.store)
    said = shown(opened("annotate", "ada", task=task.id))
    assert "A decision is possible at 60 and 100 judgements (all assessors together)." in said
    judge_pair(bench.store, task, 60)
    app = opened("annotate", "ada", task=task.id)
    said = shown(app)
    assert "Decided at 60 judgements: you may stop, or judge the rest." in said
    assert "good" not in said.split() and "poor" not in said.split()
    assert "Verdict on the two systems" in [button.label for button in app.button]
    last = queue.exchange(bench.store, task, ADA).last
    assert last
    queue.exchange(bench.store, task, ADA, [answer(last.id, act="undo")])
    assert "A decision is possible at 60 and 100 judgements" in shown(app.run())
    queue.exchange(bench.store, task, ADA, [answer(last.id, act="skip")])
    assert "Decided at 60 judgements" in shown(app.run())

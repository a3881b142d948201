"""The Jobs page on real stores: what it offers, what its buttons do, what other pages say of it."""

import re

import pytest

from compute import jobs
from compute.intake import imports
from compute.jobs import logs
from compute.recompute import run
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.systems import system
from tests.support.pages import button_named, noted, opened, words_of
from tests.support.processes.jobbing import ended, worker
from tests.support.tiny import write_tiny

PAGE = "pages/jobs.py"
CHOSEN = {"systems": "bm25", "datasets": "tiny"}
HOSTILE = "<b>*x*</b> $y$ :red[z]"


def test_without_a_worker_the_command_that_starts_one_is_shown(store: Store) -> None:
    words = words_of(opened(PAGE))
    assert "No worker is running" in words
    assert "python -m compute worker" in words
    assert "No job has been started here yet." in words


def test_nothing_is_chosen_until_the_address_or_a_click_does(store: Store) -> None:
    app = opened(PAGE)
    assert button_named(app, "Start").disabled
    app = opened(PAGE, **CHOSEN)
    assert app.multiselect(key="datasets").value == ["tiny"]
    assert not button_named(app, "Start").disabled
    assert "1 run; no time estimate yet" in words_of(app)


@pytest.mark.long
def test_datasets_that_cannot_be_had_are_rows_on_request_and_say_why(store: Store) -> None:
    assert "MSMARCO" not in opened(PAGE).multiselect(key="datasets").options
    app = opened(PAGE, systems="bm25", datasets="msmarco")
    assert button_named(app, "Start").disabled
    assert "MSMARCO is not here: python -m compute fetch msmarco fetches it" in words_of(app)
    assert "MSMARCO" in opened(PAGE, all="true").multiselect(key="datasets").options


def test_names_that_there_are_not_get_a_sentence(store: Store) -> None:
    app = opened(PAGE, systems="bm26", datasets=["tiny", "tyni"])
    assert "No system that can run here is called bm26" in words_of(app)
    assert "tyni. Did you mean tiny" in words_of(app)


@pytest.mark.long
def test_start_queues_once_cancel_ends_and_retry_queues_again(store: Store) -> None:
    app = button_named(opened(PAGE, **CHOSEN), "Start").click().run()
    assert "1 queued as run-" in words_of(app)
    button_named(opened(PAGE, **CHOSEN), "Start").click().run()
    (job,) = jobs.listed(store.settings)
    assert (job.state, job.title) == ("queued", "bm25 on tiny")
    app = button_named(opened(PAGE), "Cancel").click().run()
    assert not app.exception
    (job,) = jobs.listed(store.settings)
    assert job.state == "cancelled"
    app = button_named(opened(PAGE), "Retry").click().run()
    assert not app.exception
    assert [one.state for one in jobs.listed(store.settings)] == ["queued", "cancelled"]
    app = opened(PAGE)
    assert "cancelled" not in words_of(app)
    app = app.toggle(key="older").set_value(True).run()
    assert "retried" in [caption.value for caption in noted(app)]
    assert "Retry" not in [button.label for button in app.button]


@pytest.mark.long
def test_what_is_up_to_date_is_computed_again_by_a_switch_alone(store: Store) -> None:
    tiny = own_datasets(store)["tiny"]
    run.run(Bench(store, store.settings), system("bm25"), tiny)
    app = opened(PAGE, **CHOSEN)
    assert button_named(app, "Start").disabled
    assert "Everything is up to date" in words_of(app)
    app = opened(PAGE, again="true", **CHOSEN)
    assert not button_named(app, "Start").disabled
    assert re.search(r"1 run, about \d+ s on one worker", words_of(app))


@pytest.mark.long
def test_a_failed_job_shows_its_sentence_and_its_log_as_text(store: Store) -> None:
    broken = store.settings.home / "datasets" / "scifact"
    write_tiny(broken)
    (broken / "corpus.jsonl").write_text('{"_id": "d1", "text"', encoding="utf-8")
    job = jobs.start(store, "run", ["bm25"], ["scifact"]).job
    with worker(store.settings):
        failed = ended(store.settings, job)
    logs.write(store.settings, job, HOSTILE)
    app = opened(PAGE)
    assert "corpus.jsonl" in failed.error
    assert "1 of 1 failed; BM25 (Pyserini) on SciFact" in words_of(app)
    assert "0 of 1 done, 1 failed" in words_of(app)
    app.toggle(key=f"details {job}").set_value(True).run()
    assert list(app.dataframe[0].value["State"]) == ["failed"]
    assert "load: failed" in app.code[-1].value
    app.selectbox(key=f"log {job}").set_value(job).run()
    assert HOSTILE in app.code[-1].value
    assert not [part for part in (*app.markdown, *noted(app)) if HOSTILE in part.value]


def test_other_pages_say_that_a_job_is_at_work_and_lead_to_it(store: Store) -> None:
    def said() -> list[str]:
        labels = [link.proto.label.replace("\\", "") for link in opened().get("page_link")]
        return [label for label in labels if "job " in label]

    assert said() == []
    job = jobs.start(store, "run", ["bm25"], ["tiny"]).job
    assert said() == ["1 job waiting: 0 of 1 done"]
    jobs.cancel(store.settings, job)
    assert said() == []


@pytest.mark.long
def test_a_system_is_added_by_its_name(store: Store) -> None:
    app = opened(PAGE, **CHOSEN)
    app.text_input(key="_new_system").set_value("rrf( bm25 , bm25-multifield )").run()
    assert app.multiselect(key="systems").value == ["bm25", "rrf(bm25,bm25-multifield)"]
    assert "2 runs" in words_of(app)
    button_named(app, "Start").click().run()
    assert not app.exception
    (job,) = jobs.listed(store.settings, 5)
    assert job.counts == {"queued": 2} or job.state == "queued"


@pytest.mark.long
def test_a_fusion_of_stored_runs_is_chosen_without_its_name(store: Store) -> None:
    tiny = own_datasets(store)["tiny"]
    bench = Bench(store, store.settings)
    for name in ("mine", "other"):
        file = store.settings.home / name
        file.write_text(f"q1 Q0 d1 1 1 {name}\n", encoding="utf-8")
        imports.import_run(bench, file, tiny)
    app = opened(PAGE, datasets="scifact")
    app.multiselect(key="_fused").set_value(["mine", "other"]).run()
    button_named(app, "Add the fusion of the chosen runs").click().run()
    assert app.multiselect(key="systems").value == ["rrf(mine,other)"]
    assert app.multiselect(key="datasets").value == ["tiny"] and "1 run" in words_of(app)
    elsewhere = words_of(opened(PAGE, systems="rrf(mine,other)", datasets="scifact"))
    assert "Cannot run here: " in elsewhere and "Available on tiny." in elsewhere


@pytest.mark.long
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("rff(bm25,minilm)", "did you mean: rrf"),
        (HOSTILE, "is not a system name"),
        ("minilm(model=/etc)", "start it on the command line"),
    ],
)
def test_a_wrong_name_is_answered_and_nothing_is_chosen(
    store: Store, written: str, said: str
) -> None:
    app = opened(PAGE)
    app.text_input(key="_new_system").set_value(written).run()
    assert said in words_of(app)
    assert app.multiselect(key="systems").value == []


def test_the_address_names_a_system_that_no_row_has(store: Store) -> None:
    app = opened(PAGE, systems="rrf(bm25,bm25-rm3)", datasets="tiny")
    assert app.multiselect(key="systems").value == ["rrf(bm25,bm25-rm3)"]
    assert "1 run" in words_of(app)

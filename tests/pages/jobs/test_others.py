"""Work besides runs, started from the Jobs page."""

from compute import jobs
from compute.store.store import Store
from tests.support.pages import button_named, opened, words_of

PAGE = "pages/jobs.py"


def test_word_counts_and_clusters_are_queued_from_the_page(store: Store) -> None:
    for kind in ("overlap", "clusters"):
        app = opened(PAGE, {"_other_kind": kind, "_other_datasets": ["tiny"]})
        button_named(app, "Start it").click()
        assert kind in words_of(app.run()).lower()
    assert {job.kind for job in jobs.listed(store.settings)} == {"overlap", "clusters"}


def test_scores_without_a_run_are_a_sentence(store: Store) -> None:
    app = opened(PAGE, {"_other_kind": "score", "_other_datasets": ["tiny"]})
    button_named(app, "Start it").click()
    assert "no stored run matches" in words_of(app.run())
    assert jobs.listed(store.settings) == []

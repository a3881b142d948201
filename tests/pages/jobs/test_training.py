"""Training on the Jobs page: what starts it, and the losses of one that is under way."""

from compute import jobs
from compute.store.store import Store
from compute.systems.training import losses
from tests.support.pages import button_named, opened, words_of

PAGE = "pages/jobs.py"


def test_a_training_under_way_shows_its_losses(store: Store) -> None:
    jobs.start(store, "train", ["ict-herbert(epochs=1)"], ["tiny"])
    place = losses.folder(store.settings, "0" * 64)
    losses.begin(place, {"system": "ict-herbert[tiny](epochs=1)", "dataset": "tiny"})
    curve = losses.Curve(place, lambda *_: None)
    for step in range(1, 4):
        curve(step, 9, {"loss": 3.0 / step})
    words = words_of(opened(PAGE))
    assert "ict-herbert[tiny](epochs=1) on tiny" in words
    assert "Step 3 of 9: loss 1.0000 (started at 3.0000); under 1 s so far." in words


def test_a_recipe_that_cannot_be_trained_here_gets_a_sentence(store: Store) -> None:
    app = opened(PAGE)
    app.text_input(key="_recipe").set_value("bm25")
    button_named(app, "Train").click()
    assert "bm25 cannot be trained here; these can:" in words_of(app.run())
    app.text_input(key="_recipe").set_value("genq(model=/nowhere)")
    button_named(app, "Train").click()
    assert "Local folders can be named only on the command line." in words_of(app.run())
    assert jobs.listed(store.settings) == []

"""The next step that is named where something is not here."""

import pytest

from compute.datasets import DATASETS
from compute.datasets.catalogue import own
from compute.views.shared import next_steps


@pytest.mark.parametrize(
    ("name", "is_loaded", "said"),
    [
        ("mine", True, "the Jobs page, or python -m compute run bm25 mine."),
        ("mine", False, "no texts; python -m compute import-run FILE --dataset mine."),
        ("scifact", True, "the Jobs page, or python -m compute run bm25 scifact."),
        ("scifact", False, "yet: python -m compute fetch scifact downloads scifact.zip"),
        ("nq-dpr", False, "only published figures"),
    ],
)
def test_what_is_already_there_is_not_asked_for(name: str, is_loaded: bool, said: str) -> None:
    dataset = DATASETS.get(name) or own(name, relevance="Binary")
    words = next_steps.without_runs(dataset, is_loaded=is_loaded)
    assert said in words
    assert "mine.zip" not in words


def test_runs_of_before_a_replacement_are_named_not_denied() -> None:
    words = next_steps.without_runs(own("mine", relevance="Binary"), outdated=["bm25", "minilm"])
    assert words.startswith("bm25, minilm: left out because the data of mine were replaced")

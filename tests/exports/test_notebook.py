"""The entry for notebooks: its examples as the paper has them, and what it refuses."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compute.base.errors import Missing
from compute.base.settings import PROJECT
from compute.exports import notebook
from compute.exports.notebook import Results

EXAMPLES = re.findall(
    r"^## (.+?)$.*?```python\n(.*?)```",
    (PROJECT / "docs" / "notebook.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new home, in which is what ships."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "1")
        yield tmp_path_factory.getbasetemp()


@pytest.fixture
def opened(home: Path) -> Iterator[Results]:
    with notebook.results() as results:
        yield results


def test_a_folder_that_is_no_home_becomes_none(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with (
            pytest.raises(Missing, match="is not a home folder: name one"),
            notebook.results(place),
        ):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_measure_that_nothing_has_is_refused(opened: Results) -> None:
    with pytest.raises(Missing, match="nothing stored has 'ndcg@10': did you mean"):
        opened.scores(measure="ndcg@10")
    with pytest.raises(Missing, match="python -m compute rescore scifact --measure P@3"):
        opened.by_query("scifact", measure="P@3")
    assert opened.scores(dataset="scifact", system="none", measure="nDCG@10").empty


def test_the_paper_has_its_examples() -> None:
    assert len(EXAMPLES) == 6


@pytest.fixture(scope="module")
def made(home: Path) -> dict[str, Any]:
    """What all examples, run one after the other, leave."""
    names: dict[str, Any] = {}
    for _, code in EXAMPLES:
        exec(compile(code, "docs/notebook.md", "exec"), names)
    return names


def test_the_examples_give_the_numbers_that_ship(made: dict[str, Any], opened: Results) -> None:
    assert made["board"].loc["scifact", "bm25"] == pytest.approx(0.6789, abs=5e-5)
    by_query = made["by_query"]
    assert by_query["bm25"].mean() == pytest.approx(made["board"].loc["scifact", "bm25"], abs=1e-9)
    gap = (by_query["bm25"] - by_query["minilm"]).mean()
    assert made["found"].difference == pytest.approx(gap, abs=1e-9)
    assert made["found"].low < gap < made["found"].high
    assert made["widest"] > 0
    assert made["alike"].shape[0] == made["alike"].shape[1] > 2
    assert len(made["figure"].data[0].y) == 300
    (bars, *_) = made["drawn"].data
    assert sum(bars.y) / len(bars.y) == pytest.approx(gap, abs=1e-9)
    assert len(made["order"].data) > 1
    assert opened.cursor.sql("select count(*) from datasets").fetchall()[0][0] > 18


def test_holes_of_some_systems(opened: Results) -> None:
    assert opened.holes("scifact", systems=["bm25"])["system"].to_list() == ["bm25"]


REFUSED = {
    "no run on 'scifect' is stored: did you mean scifact": lambda home: home.by_query("scifect"),
    "no run on scifact has P@7: .* rescore scifact": lambda home: home.by_query("scifact", "P@7"),
    "no run of 'x' on scifact is .* there are": lambda home: home.holes("scifact", systems=["x"]),
    "no run of 'bm26' on scifact": lambda home: home.compare("scifact", "bm25", "bm26"),
    "no run on 'nowhere' is stored": lambda home: home.holes("nowhere"),
    "the page has no 'x' for these choices": lambda home: home.part("holes", "x"),
    "No system on .* is called bm26": lambda home: home.part("compare", "scatter", a="bm26"),
    "no overlap of 'letters' from 0 .* unigrams": lambda home: home.overlap("letters"),
}


@pytest.mark.parametrize("told", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(opened: Results, told: str) -> None:
    with pytest.raises(Missing, match=told):
        REFUSED[told](opened)

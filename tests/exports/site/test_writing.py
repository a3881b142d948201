"""The static site: its numbers are those of the home, its texts as asked, its folder whole."""

import html
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from compute.__main__ import main
from compute.base.errors import Missing, WrongInput
from compute.base.settings import Settings
from compute.commands.common import scored_by
from compute.datasets import DATASETS
from compute.exports import notebook
from compute.exports.file_names import slug
from compute.exports.site import Wanted, write
from compute.exports.site.writing import _in_place, _replace
from compute.intake import imports
from compute.judgements import Choice
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.shared.standings import among_all
from compute.views.shared.theme import plain, signed
from tests.support import filled, hostile
from tests.support.tiny import write_tiny

RUNS = {
    "mine": {"q1": ["d1", "d2", "d5"], "q2": ["d2", "d4"], "q3": ["d4", "d6"]},
    "other": {"q1": ["d2", "d1"], "q2": ["d4", "d3", "d2"], "q3": ["d6"]},
    "third": {"q1": ["d3"], "q2": ["d3", "d2"]},
}


def piece(folder: Path, name: str) -> dict[str, Any]:
    """The content of a piece of data, whose script calls `beirscope.put`."""
    text = (folder / "data" / f"{name}.js").read_text("utf-8")
    start = f"beirscope.put({json.dumps(name)},"
    assert text.startswith(start) and text.endswith(");\n")
    return json.loads(text[len(start) : -3])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The tiny collection with three runs."""
    bench = filled.bench(tmp_path_factory.mktemp("site"))
    ranks = {
        system: [
            f"{query} Q0 {doc} {rank} {9 - rank} {system}\n"
            for query, docs in lists.items()
            for rank, doc in enumerate(docs)
        ]
        for system, lists in RUNS.items()
    }
    filled.take(bench, {system: "".join(lines) for system, lines in ranks.items()})
    return bench.store


@pytest.fixture(scope="module")
def site(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    wanted = Wanted(title="Ours <b>", by="Ada", measures=("RR@10", "Hole@10"))
    write(store, folder, wanted)
    return folder


def _scores(store: Store, capsys: pytest.CaptureFixture[str], measure: str) -> pd.DataFrame:
    """What `show scores` prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(store.home))
        assert main(["scores", "--measure", measure, "--json"]) == 0
    return pd.DataFrame(json.loads(capsys.readouterr().out))


@pytest.mark.long
def test_every_mean_is_that_of_show_scores(
    site: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv(site / "scores.csv")
    for measure in ("RR@10", "Hole@10"):
        printed = _scores(store, capsys, measure).set_index("system")["value"]
        own = table[table["measure"] == measure].set_index("system")["value"]
        assert own.to_dict() == pytest.approx(printed.to_dict(), abs=1e-9)
        board = (site / "dataset" / "tiny" / slug(measure) / "systems.html").read_text("utf-8")
        for value in printed:
            assert plain(value, 4) in board or plain(value) in board


@pytest.mark.long
def test_two_systems_are_compared_as_the_page_does(site: Path, store: Store) -> None:
    """RR@10: mine has 1, 1 and 1/2; other 1/2, 1/2 and 1. Differences +1/2, +1/2, −1/2."""
    found = piece(site, "scores-0-tiny-rr10")
    assert found["systems"] == ["mine", "other", "third"]
    assert found["queries"] == ["q1", "q2", "q3"]
    assert found["values"][:2] == [[1_000_000, 1_000_000, 500_000], [500_000, 500_000, 1_000_000]]
    (row,) = [row for row in found["pairs"] if row[:2] == [0, 1]]
    _, _, gap, low, high, p, adjusted, n, ahead, behind = row
    # Student's: 1/6 ± 4.303 · (1/√3)/√3; t = 1/2 at 2 degrees of freedom.
    assert (gap, low, high) == ("+.1667", "−1.2676", "+1.6009")
    assert (p, n, ahead, behind) == ("p\u00a0=\u00a0.667", 3, 2, 1)
    with notebook.results(store.home) as home:
        page = home.compare("tiny", "mine", "other", "RR@10")
        (pair,) = among_all(home.cursor, "RR@10", ["tiny"], found["systems"]).query(
            "a == 'mine' and b == 'other'"
        )["p"]
    assert [gap, low, high] == [signed(page[one], 4) for one in ("difference", "low", "high")]
    assert p.endswith(f"{page['p_t']:.3f}"[1:]) and adjusted.endswith(f"{pair:.3f}".lstrip("0"))


@pytest.mark.long
def test_a_measure_that_leaves_queries_out_is_tested_on_what_both_have(site: Path) -> None:
    """Third answers no q3, so it has no Hole@10 there."""
    found = piece(site, "scores-0-tiny-hole10")
    assert found["values"][2][2] is None
    assert {tuple(row[:2]): row[7] for row in found["pairs"]} == {(0, 1): 3, (0, 2): 2, (1, 2): 2}


@pytest.mark.long
def test_lists_have_ids_ranks_and_grades_and_no_texts_unless_asked(site: Path) -> None:
    of = piece(site, "queries-0-tiny")
    assert of["queries"] == ["q1", "q2", "q3"] and of["relevant"] == [2, 2, 1]
    one = piece(site, "lists-0-tiny-0")["queries"][0]
    mine = one["lists"][str(of["systems"].index("mine"))]
    assert [one["docs"][place] for place in mine] == ["d1", "d2", "d5"]
    assert [one["grades"][place] for place in mine] == [2, None, 1]
    written = "".join(file.read_text("utf-8") for file in site.rglob("*") if file.is_file())
    assert "old harbour" not in written and "ships in the harbour" not in written


@pytest.mark.long
def test_texts_are_there_where_asked_for_and_allowed(store: Store, tmp_path: Path) -> None:
    write(store, tmp_path / "site", Wanted(measures=("RR@10",), texts=True))
    assert "ships in the harbour" in piece(tmp_path / "site", "queries-0-tiny")["texts"]
    texts = piece(tmp_path / "site", "lists-0-tiny-0")["texts"]
    assert ["d1", "Harbour", "Ships leave the old harbour at dawn."] in texts
    allowed = {name for name, row in DATASETS.items() if row.may_hand_on_texts}
    assert {"scifact", "arguana", "pydocs-numpy"} <= allowed
    assert allowed.isdisjoint({"nfcorpus", "signal1m", "robust04", "msmarco", "trec-covid"})


@pytest.mark.long
def test_each_run_has_the_command_that_makes_it_again(site: Path) -> None:
    made = html.unescape((site / "made" / "tiny.html").read_text("utf-8"))
    assert "import-run some.run --dataset tiny" in made
    assert all(f'"system": "{name}"' in made for name in RUNS)
    manifest = json.loads((site / "manifest.json").read_text("utf-8"))
    assert manifest["by"] == "Ada" and manifest["judgements"] == "official"
    assert sorted(manifest["files"]) == sorted(
        str(file.relative_to(site)) for file in site.rglob("*") if file.is_file()
    )
    assert "Ada: Ours <b>." in (site / "CITATION.txt").read_text("utf-8")
    page = (site / "compare" / "tiny" / "rr10.html").read_text("utf-8")
    assert "<title>Compare · tiny · RR@10 · Ours &lt;b&gt;</title>" in page


@pytest.mark.long
def test_added_judgements_count_where_they_are_chosen(tmp_path: Path) -> None:
    now = hostile.make(tmp_path)
    site = tmp_path / "site"
    official = Wanted(datasets=("hostile",), measures=("Judged@10",))
    made = write(Store(now), site, replace(official, choice=Choice(rule="highest")))
    means = piece(site, "scores-0-hostile-judged10")["values"]
    assert "added" in made["judgements"]
    write(Store(now), site, official)
    assert means != piece(site, "scores-0-hostile-judged10")["values"]


@pytest.mark.long
def test_a_folder_that_is_no_site_stays_as_it_is(store: Store, tmp_path: Path) -> None:
    wanted = Wanted(measures=("RR@10",))
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    for name, words in (
        ("full", "contains files that are not from a Beirscope site, such as mine.txt"),
        ("file", "is a file"),
        ("none/site", "create it first"),
    ):
        with pytest.raises(WrongInput, match=words):
            write(store, tmp_path / name, wanted)
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"
    site = tmp_path / "site"
    write(store, site, wanted)
    write(store, site, wanted)
    (site / "CNAME").write_text("mine.example")
    with pytest.raises(WrongInput, match="such as CNAME"):
        write(store, site, wanted)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "full", "site"]


@pytest.mark.parametrize("kind", ["file", "link", "another's"])
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "meanwhile"])
def test_what_no_site_put_there_is_not_replaced(tmp_path: Path, kind: str, is_late: bool) -> None:
    target, mine = tmp_path / "site", tmp_path / "site" / "mine"

    def put() -> None:
        target.mkdir()
        if kind == "link":
            mine.symlink_to(tmp_path)
        else:
            mine.write_text("mine")
        if kind == "another's":
            files = {"made_with": "another", "files": ["mine", "manifest.json"]}
            (target / "manifest.json").write_text(json.dumps(files))

    if not is_late:
        put()
    with pytest.raises(WrongInput, match="contains files that are not"), _in_place(target):
        assert is_late
        put()
    assert os.path.lexists(mine) and [*tmp_path.iterdir()] == [target]


def test_a_site_that_cannot_be_replaced_comes_back(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(FileNotFoundError):
        _replace(tmp_path / "site", tmp_path / "none", tmp_path / "old")
    assert (tmp_path / "site" / "index.html").read_text() == "mine"


@pytest.mark.long
def test_a_dataset_without_the_wanted_measures_is_no_choice(tmp_path: Path) -> None:
    """One dataset has Bpref, the other has not."""
    now = Settings(home=tmp_path / "home", threads=1, latency_queries=0)
    bench = Bench(Store(now, shipped=tmp_path / "nothing"), now)
    write_tiny(tmp_path / "tiny")
    (tmp_path / "one.run").write_text("q1 Q0 d1 1 9 t\nq2 Q0 d2 1 9 t\n", "utf-8")
    for name in ("tiny", "other"):
        dataset = imports.import_dataset(bench, name, path=tmp_path / "tiny").dataset
        imports.import_run(bench, tmp_path / "one.run", dataset, system="one")
    scored_by(bench, "Bpref", "other")
    write(bench.store, tmp_path / "site", Wanted(measures=("Bpref",)))
    pages = [file.name for file in (tmp_path / "site" / "query").glob("*.html")]
    assert pages == ["other.html"]
    boards = (tmp_path / "site" / "dataset").rglob("*.html")
    assert {str(file.relative_to(tmp_path / "site")) for file in boards} >= {
        "dataset/other/bpref/systems.html"
    }
    assert not (tmp_path / "site" / "dataset" / "tiny").exists()


def test_what_is_not_there_is_said(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Missing, match="no scores on 'tyni': did you mean tiny"):
        write(store, tmp_path / "site", Wanted(datasets=("tyni",)))
    with pytest.raises(Missing, match="no run has P@7"):
        write(store, tmp_path / "site", Wanted(measures=("P@7",)))
    assert main(["export", "site"]) == 2
    assert main(["export", "table", "measures", "--dataset", "a", "b", "--out", "x.csv"]) == 2
    told = capsys.readouterr().err
    assert "export site needs FOLDER" in told and "does not accept 'b'" in told
    assert not list(tmp_path.iterdir())

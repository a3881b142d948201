"""Two runs by what somebody calls them: stored systems, files, folders of files."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from compute.base.errors import Missing, WrongInput
from compute.datasets import Dataset
from compute.evaluate.measures import parse
from compute.intake import imports
from compute.intake.gate_runs import Given, compared, file_for, given
from compute.recompute import run as recompute
from compute.recompute.run import Bench
from compute.store.run_versions import Version
from compute.systems import system
from tests.support import filled
from tests.support.tiny import write_tiny

NDCG = parse("nDCG@10")
RUN = "q1 Q0 d1 1 3.0 mine\nq1 Q0 d2 2 2.0 mine\nq2 Q0 d2 1 1.0 mine\n"
OTHER = "q1 Q0 d2 1 3.0 other\nq1 Q0 d1 2 2.0 other\nq3 Q0 d6 1 1.0 other\n"


@pytest.fixture
def tiny(tmp_path: Path) -> Dataset:
    """The collection, on which the run `mine` is stored."""
    runs = {"mine": RUN}
    return filled.copied("mine", tmp_path / "home", lambda made, _: filled.take(made, runs))


@pytest.fixture
def stored(bench: Bench, tiny: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The home that has it, and a file in the folder that the process is in."""
    (tmp_path / "mine.run").write_text(RUN, "utf-8")
    (tmp_path / "other.run").write_text(OTHER, "utf-8")
    monkeypatch.chdir(tmp_path)
    return bench


def test_a_word_is_a_path_or_a_stored_system(stored: Bench) -> None:
    assert given(stored.store, "other.run") == Given("other.run", Path("other.run"))
    assert given(stored.store, "mine") == Given("mine", None)


@pytest.mark.parametrize("word", ["", "min", "no/such.run", "x" * 5000])
def test_a_word_that_is_neither_is_told_so(stored: Bench, word: str) -> None:
    with pytest.raises(Missing, match="is neither an existing path nor a system with a stored run"):
        given(stored.store, word)


def test_a_word_that_is_both_is_not_guessed(stored: Bench) -> None:
    Path("mine").write_text(OTHER, "utf-8")
    with pytest.raises(WrongInput, match=r"write \./mine for the path"):
        given(stored.store, "mine")
    assert given(stored.store, "./mine").path == Path("mine")


def test_a_folder_has_a_file_for_each_dataset(tmp_path: Path) -> None:
    (tmp_path / "cqadupstack").mkdir()
    names = ["scifact.run", "nfcorpus.gz", "nq.trec.zst", "fiqa", "cqadupstack/android.txt"]
    for name in [*names, "wiki-1.2.run", "scifact-pl.run"]:
        (tmp_path / name).touch()
    datasets = ["scifact", "nfcorpus", "nq", "fiqa", "cqadupstack/android"]
    found = [file_for(tmp_path, name, alone=False) for name in datasets]
    assert found == [tmp_path / name for name in names]
    with pytest.raises(Missing, match=r"has no file for wiki-1, such as wiki-1\.run: there is"):
        file_for(tmp_path, "wiki-1", alone=True)
    (tmp_path / "fiqa.run").touch()
    with pytest.raises(WrongInput, match=r"2 files for fiqa \(fiqa, fiqa\.run\): keep one"):
        file_for(tmp_path, "fiqa", alone=True)


def test_a_file_is_a_run_on_one_dataset(tmp_path: Path) -> None:
    file = tmp_path / "some.run"
    file.touch()
    assert file_for(file, "scifact", alone=True) == file
    with pytest.raises(WrongInput, match=r"one file, which is a run on one dataset: for several"):
        file_for(file, "scifact", alone=False)
    with pytest.raises(WrongInput, match="neither a file nor a folder"):
        file_for(Path("/dev/null"), "scifact", alone=True)


def test_a_stored_run_is_held_against_a_file(stored: Bench, tiny: Dataset) -> None:
    two = [given(stored.store, word) for word in ("mine", "other.run")]
    rows, remarks = compared(stored, tiny, two, NDCG, alone=True)
    found = rows.set_index("query_id")
    answers = "on tiny: answers 2 of 3 queries with judgements"
    assert remarks == [f"mine {answers}", f"other.run {answers}"]
    assert set(found["part"]) == {"tiny"}
    # q1 has grades 2 (d1) and 1 (d5); q2 has d2 and d3; what a run does not answer scores 0.
    ideal = 2 + 1 / math.log2(3)
    assert found["baseline"].to_dict() == pytest.approx(
        {"q1": 2 / ideal, "q2": 1 / (1 + 1 / math.log2(3)), "q3": 0}
    )
    assert found["candidate"].to_dict() == pytest.approx(
        {"q1": 2 / math.log2(3) / ideal, "q2": 0, "q3": 1}
    )
    assert found["holes_baseline"].to_dict() == pytest.approx(
        {"q1": 0.5, "q2": 0, "q3": math.nan}, nan_ok=True
    )
    # Both have the hole d2 of q1. Not relevant it leaves the difference as it is, or narrows it.
    gap = found["candidate"] - found["baseline"]
    assert found["least"].to_dict() == pytest.approx(gap.to_dict())
    assert found["most"]["q1"] > gap["q1"] and found["most"]["q3"] == gap["q3"]


def test_a_dataset_of_parts_needs_a_file_for_each(
    stored: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\n", "utf-8")
    imports.import_dataset(stored, "small", qrels=tmp_path / "qrels.txt")
    whole = replace(tiny, name="whole", parts=("tiny", "small"))
    Path("runs").mkdir()
    for part in whole.parts:
        Path("runs", f"{part}.run").write_text(OTHER, "utf-8")
    folder = given(stored.store, "runs")
    rows, _ = compared(stored, whole, [folder, folder], NDCG, alone=True)
    assert rows["part"].tolist() == ["tiny"] * 3 + ["small"]
    with pytest.raises(WrongInput, match=r"for several \(or one with parts\) name a folder"):
        compared(stored, whole, [folder, given(stored.store, "mine.run")], NDCG, alone=True)


def test_a_file_scores_as_when_it_is_stored(stored: Bench, tiny: Dataset) -> None:
    two = [given(stored.store, word) for word in ("mine", "mine.run")]
    for measure in ("nDCG@10", "AP@100", "Hole@10", "R@1000"):
        rows, _ = compared(stored, tiny, two, parse(measure), alone=True)
        same = rows["candidate"].tolist()
        assert rows["baseline"].tolist() == pytest.approx(same, nan_ok=True), measure


def test_what_an_import_remarks_is_remarked(stored: Bench, tiny: Dataset) -> None:
    Path("more.run").write_text(OTHER + "q9 Q0 d1 1 1.0 other\n", "utf-8")
    two = [given(stored.store, word) for word in ("mine", "more.run")]
    _, remarks = compared(stored, tiny, two, NDCG, alone=True)
    assert "more.run on tiny: 1 hit of queries outside the split left out" in remarks
    _, remarks = compared(stored, tiny, [two[1], two[1]], NDCG, alone=True)
    assert len(remarks) == len(set(remarks)) == 2


@pytest.mark.parametrize(
    ("text", "measure", "sentence"),
    [
        ("q1 Q0 d4 1 1.0 x\n", "nDCG@10", "no document in its top 10 is judged on tiny"),
        ("q7 Q0 d1 1 1.0 x\n", "nDCG@10", "none of its 1 queries is a query of tiny"),
        ("q1 Q0 zz 1 1.0 x\n", "nDCG@10", "none of its 1 documents is in tiny"),
        ("", "nDCG@10", "no run line in it"),
        (RUN, "R@5000", "R@5000 needs more than the 1,000 ranks that runs keep"),
    ],
)
def test_what_cannot_be_held_against_the_judgements_is_refused(
    stored: Bench, tiny: Dataset, text: str, measure: str, sentence: str
) -> None:
    Path("wrong.run").write_text(text, "utf-8")
    two = [given(stored.store, word) for word in ("mine", "wrong.run")]
    with pytest.raises(WrongInput, match=sentence):
        compared(stored, tiny, two, parse(measure), alone=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "known"), [("P@100", True), ("P@200", False), ("Bpref", False), ("AP", False)]
)
def test_the_joint_range_is_that_of_measures_with_one_to_rank_100(
    stored: Bench, tiny: Dataset, measure: str, known: bool
) -> None:
    two = [given(stored.store, word) for word in ("mine.run", "other.run")]
    rows, _ = compared(stored, tiny, two, parse(measure), alone=True)
    assert rows["least"].notna().all() == rows["most"].notna().all() == known


@pytest.mark.long
def test_a_run_that_is_elsewhere_or_out_of_date_is_told_so(stored: Bench, tmp_path: Path) -> None:
    qrels, two = tmp_path / "qrels.txt", [given(stored.store, word) for word in ("mine", "mine")]
    qrels.write_text("q1 0 d1 1\n", "utf-8")
    small = imports.import_dataset(stored, "small", qrels=qrels).dataset
    with pytest.raises(Missing, match="mine has no run on small, but on tiny: import or compute"):
        compared(stored, small, two, NDCG, alone=True)
    imports.import_run(stored, tmp_path / "mine.run", small)
    assert compared(stored, small, two, NDCG, alone=True)[0]["baseline"].tolist() == [1]
    qrels.write_text("q1 0 d1 0\n", "utf-8")
    imports.import_dataset(stored, "small", qrels=qrels, replace=True)
    files = [given(stored.store, "mine.run")] * 2
    with pytest.raises(WrongInput, match="no judgement of small is above 0"):
        compared(stored, small, files, NDCG, alone=True)
    with pytest.raises(Missing, match="mine on small is stale"):
        compared(stored, small, two, NDCG, alone=True)


@pytest.mark.long
def test_a_version_that_searched_another_corpus_is_refused(bench: Bench, tmp_path: Path) -> None:
    source = write_tiny(tmp_path / "source")
    imports.import_dataset(bench, "grown", path=source)
    for more in ("", '{"_id": "d99", "title": "", "text": "one more"}\n'):
        with (source / "corpus.jsonl").open("a", encoding="utf-8") as file:
            file.write(more)
        row = imports.import_dataset(bench, "grown", path=source, replace=True).dataset
        recompute.run(bench, system("bm25"), row, again=True, version=Version())
    two = [given(bench.store, name) for name in ("bm25@1", "bm25")]
    with pytest.raises(
        Missing, match="bm25@1 on grown is stale, since it searched other documents"
    ):
        compared(bench, row, two, NDCG, alone=True)

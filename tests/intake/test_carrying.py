"""Carried judgements: a set of their own, whole or not at all."""

import json
import sys
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.__main__ import main
from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import PROJECT
from compute.datasets import Dataset
from compute.intake import carrying, imports
from compute.reading import database, judgement_sets
from compute.recompute.run import read
from compute.store.loading import Bench
from tests.support.processes import prepared
from tests.support.tiny import DOCUMENTS, JUDGEMENTS, QUERIES

RUN = (
    "q1 Q0 d2 1 3 mine\nq1 Q0 d1 2 2 mine\nq1 Q0 d5 3 1 mine\n"
    "q2 Q0 d3 1 3 mine\nq3 Q0 d6 1 1 mine\n"
)


def newer(bench: Bench, folder: Path, names: dict[str, str]) -> Dataset:
    """A version of the tiny collection with other ids, without judgements."""
    folder.mkdir()
    for name, records in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        lines = [
            json.dumps(one | {"_id": names.get(str(one["_id"]), one["_id"])}) for one in records
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    return imports.import_dataset(bench, "newer", path=folder).dataset


@pytest.mark.parametrize("move", [pytest.param(0, marks=pytest.mark.long), 2])
def test_renamed_or_permuted_ids_score_as_before(
    bench: Bench, tiny: Dataset, tmp_path: Path, move: int
) -> None:
    ids = [str(one["_id"]) for one in DOCUMENTS]
    others = ids[move:] + ids[:move] if move else [f"x{name}" for name in ids]
    names = dict(zip(ids, others, strict=True)) | {"q1": "question"}
    new = newer(bench, tmp_path / "newer", names)
    lines = [line.split(" ") for line in RUN.splitlines()]
    told = "\n".join(" ".join(names.get(word, word) for word in line) for line in lines)
    for dataset, run in ((tiny, RUN), (new, told)):
        (file := tmp_path / "mine.run").write_text(run + "\n")
        imports.import_run(bench, file, dataset)
    part, fresh = carrying.carry(bench, tiny, new)
    assert fresh
    assert not carrying.carry(bench, tiny, new)[1]
    pairs = {(row.query_id, row.doc_id, row.relevance) for row in read(part).itertuples()}
    assert pairs == {(names.get(q, q), names[d], grade) for q, d, grade in JUDGEMENTS}
    assert set(read(part)["similarity"]) == {1.0}
    with database.open_version(bench.store).cursor() as cursor:
        assert judgement_sets.names(cursor, "newer") == ["official", "carried:tiny"]
        assert judgement_sets.labels(cursor, "newer", "official").empty
        before, after = (
            judgement_sets.values(cursor, of, name, "nDCG@10")
            for of, name in (("tiny", "official"), ("newer", "carried:tiny"))
        )
    scores = dict(zip(before["query_id"], before["value"], strict=True))
    assert len(after) == 3
    for query_id, value in zip(after["query_id"], after["value"], strict=True):
        assert value == pytest.approx(scores[{"question": "q1"}.get(query_id, query_id)], abs=1e-12)


def test_what_is_lost_is_reported_and_stays_unjudged(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    new = newer(bench, tmp_path / "newer", {"d1": "a"})
    folder = tmp_path / "newest"
    folder.mkdir()
    kept = [json.dumps(one) for one in DOCUMENTS if one["_id"] != "d3"]
    (folder / "corpus.jsonl").write_text("\n".join(kept), "utf-8")
    (folder / "queries.jsonl").write_text(json.dumps(QUERIES[1]), "utf-8")
    newest = imports.import_dataset(bench, "newest", path=folder).dataset
    part, _ = carrying.carry(bench, tiny, newest)
    assert read(part)[["query_id", "doc_id"]].to_numpy().tolist() == [["q2", "d2"]]
    expected = [(carrying.NO_QUERY, 3, 3), (carrying.LOST, 1, 1), ("same id and text", 1, 1)]
    assert sorted(carrying.report(part).itertuples(index=False, name=None)) == sorted(expected)
    assert carrying.said(part).startswith("carried 1 of 5 judgements of tiny to newest")
    with pytest.raises(Missing, match="newer has no judgement in its set official"):
        carrying.carry(bench, new, tiny)
    with pytest.raises(WrongInput, match="from one dataset to another"):
        carrying.carry(bench, tiny, tiny)


@pytest.mark.long
def test_other_judgements_carried_before_are_replaced_only_on_request(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    new = newer(bench, tmp_path / "newer", {})
    carrying.carry(bench, tiny, new)
    added = {"query_id": "q3", "doc_id": "d2", "relevance": 1, "person": "ada", "source": "person"}
    rows = DataFrame([added]).assign(dataset="tiny", task="", guideline_version="")
    bench.store.add_judgements(rows.astype({"relevance": "Int64"}))
    with pytest.raises(Conflict, match="--replace"):
        carrying.carry(bench, tiny, new, "added")
    assert len(read(carrying.carry(bench, tiny, new, "added", replace=True)[0])) == 6


@pytest.mark.long
@pytest.mark.parametrize("place", ["after the file", "after the rename", "before the commit"])
def test_a_killed_carrying_leaves_nothing(
    bench: Bench, tiny: Dataset, tmp_path: Path, place: str
) -> None:
    newer(bench, tmp_path / "newer", {"d1": "x"})
    before = bench.store.version(), bench.store.parts()
    words = [sys.executable, "-m", "tests.support.processes.killed_command", place, "1"]
    home = {"BEIRSCOPE_HOME": str(bench.store.home)}
    command = [*words, "carry-judgements", "tiny", "newer"]
    assert prepared.run(command, cwd=PROJECT, timeout=300, env=home).returncode == -9
    assert (bench.store.version(), bench.store.parts()) == before


@pytest.mark.long
def test_the_command_reports(
    bench: Bench,
    tiny: Dataset,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newer(bench, tmp_path / "newer", {"d1": "x"})
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    assert main(["carry-judgements", "tiny", "newer"]) == 0
    said = capsys.readouterr().out
    assert said == (
        "carried 5 of 5 judgements of tiny to newer (set carried:tiny): 1 equal text;"
        " 4 same id and text\n"
    )
    assert main(["remove", "newer", "--carried", "tny", "--yes"]) == 2
    assert "no judgements carried from 'tny': did you mean tiny?" in capsys.readouterr().err
    before = {part.identity for part in bench.store.parts()}
    assert main(["remove", "newer", "--carried", "tiny", "--yes"]) == 0
    assert capsys.readouterr().out == "removed 5 judgements of newer carried from tiny\n"
    assert before - {part.identity for part in bench.store.parts()} == {
        ("carried", "newer", "tiny")
    }

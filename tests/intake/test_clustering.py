"""Clusters of a dataset's queries as labels, by the model's real weights."""

import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.datasets import Dataset
from compute.intake import query_labels
from compute.recompute.run import read
from compute.store.loading import Bench

HEART = ("heart attack risk", "blood pressure drugs", "cholesterol in the heart's vessels")
SPACE = ("planets around distant stars", "telescope images of galaxies", "orbit of a moon")
TEXTS = [f"{text} {word}" for text in (*HEART, *SPACE) for word in ("study", "survey")]


@pytest.mark.long
def test_queries_of_two_subjects_are_told_apart(
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    queries = "".join(
        json.dumps({"_id": f"q{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)
    )
    (tmp_path / "queries.jsonl").write_text(queries, "utf-8")
    (tmp_path / "qrels").write_text(
        "".join(f"q{number} 0 d1 1\n" for number in range(len(TEXTS))), "utf-8"
    )
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    files = ["--qrels", str(tmp_path / "qrels"), "--queries", str(tmp_path / "queries.jsonl")]
    assert main(["import-dataset", *files, "--name", "own"]) == 0
    assert main(["cluster-queries", "own"]) == 0
    out = capsys.readouterr().out
    assert "2 clusters of own, mean silhouette 0." in out
    part = bench.store.part(query_labels.KIND, "own")
    assert part is not None
    rows = read(part).set_index("query_id")["value"]
    assert rows[[f"q{number}" for number in range(6)]].nunique() == 1
    assert rows.nunique() == 2 and (rows.value_counts() == 6).all()
    assert part.provenance["command"] == "python -m compute cluster-queries own"
    assert main(["cluster-queries", "own"]) == 0, "the same once more"
    assert bench.store.part(query_labels.KIND, "own") == part
    (tmp_path / "labels").write_text("q1\tcluster\tsea\nq2\tcluster\tair\n", "utf-8")
    labels = ["import-labels", str(tmp_path / "labels"), "--dataset", "own", "--replace"]
    assert main(labels) == 0
    capsys.readouterr()
    assert main(["cluster-queries", "own"]) == 2
    assert "own has labels 'cluster' from labels: --replace replaces" in capsys.readouterr().err


def test_what_has_no_text_or_too_few_is_said(
    bench: Bench, tiny: Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    assert main(["cluster-queries", tiny.name]) == 2
    assert "3 queries with text are too few for 2 clusters" in capsys.readouterr().err
    assert main(["cluster-queries", tiny.name, "--clusters", "41"]) == 2
    assert "41 clusters: ask for 2 to 40" in capsys.readouterr().err
    assert main(["cluster-queries", "cqadupstack"]) == 2
    assert "has parts: name one of them" in capsys.readouterr().err

"""`systems NAME`: everything known of one system."""

import json

import pytest

from compute.__main__ import main
from compute.datasets.published import FOLDER
from compute.systems import SYSTEMS
from compute.views.about import system_card


def said(capsys: pytest.CaptureFixture[str], name: str) -> dict[str, str]:
    assert main(["systems", name, "--json"]) == 0
    return {row["what"]: row["value"] for row in json.loads(capsys.readouterr().out)}


def test_a_card_has_weights_revision_pooling_similarity_and_training(
    capsys: pytest.CaptureFixture[str],
) -> None:
    card = said(capsys, "tas-b")
    assert "balanced topic-aware sampling" in card["training"]
    assert card["trained on"] == "MS MARCO"
    for fact in (
        "revision b12d9352e776979147078a8975a4885042984fd1",
        "pooling cls",
        "similarity dot",
    ):
        assert fact in card["runs here with"]


def test_a_card_has_hours_hardware_depth_and_the_mark_of_the_study(
    capsys: pytest.CaptureFixture[str],
) -> None:
    card = said(capsys, "bm25+herbert-large")
    assert card["hardware and hours"].endswith("RTX 3090 with 24 GB each: about 25 hours")
    assert card["fine-tuned in the study"] == "yes (✓ in BEIR-PL, Table 4)"
    assert "reranking depth 100" in card["runs here with"]
    assert said(capsys, "labse")["fine-tuned in the study"].startswith("no (×")
    assert "λ 0.025" in said(capsys, "bm25-augmented")["training"]


def test_a_card_of_parameters_and_of_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systems", "bm25(k1=1.5)"]) == 0
    assert "k1 1.5" in capsys.readouterr().out
    assert main(["systems", "bm52"]) != 0
    assert "did you mean: bm25" in capsys.readouterr().err


def test_a_card_of_a_system_trained_here_says_on_which_queries() -> None:
    card = system_card.facts("bm25-augmented[pydocs-scipy]")
    assert card["trained on"] == (
        "here, the judged queries of pydocs-scipy; its scores on pydocs-scipy are on these queries"
    )
    assert "epochs 45" in card["training"] and "hardware and hours" not in card
    assert system_card.facts("genq[scifact](queries=judged)")["trained on"].endswith(
        "queries of scifact/train"
    )
    assert system_card.facts("ict-herbert[mine]")["trained on"] == "here, the documents of mine"
    assert "if it has none" in system_card.facts("bm25-augmented[mine]")["trained on"]


def test_an_imported_run_says_that_it_is_one() -> None:
    assert system_card.facts("somebody's") == {
        "name": "somebody's",
        "family": system_card.IMPORTED,
    }


def test_no_card_points_to_a_file_that_is_not_there() -> None:
    for name in SYSTEMS:
        words = str(system_card.facts(name))
        assert ".md" not in words and ".csv" not in words, name
    assert (FOLDER / "systems.csv").is_file()

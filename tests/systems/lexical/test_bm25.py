"""Real Lucene on a tiny world; each Java start takes about two seconds."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems.lexical.bm25 import Bm25, Multifield, Rm3
from compute.systems.searcher import Request

DOCUMENTS = [
    ("id with blanks", "Cat", "purr\tpurr\nnight"),
    ("9", "Dogs", "barking night"),
    ("title\tonly", "purr garden", ""),
    ("untitled", "", "dog's cat garden"),
    ("ü/末", "", "the"),
    ("10", "Dogs", "barking night"),
    # RM3 ignores words of more than a tenth of all documents: these make the others rare.
    *((f"filler {number}", "", f"apple{number} pear{number} plum{number}") for number in range(15)),
]
QUERIES = [
    ("q 1", "purr"),
    ("stop", "the"),
    ("blank", " \t\n\x00"),
    ("tie", "Dogs\tbarking\n"),
    ("long", "purr " + " ".join(f"w{number}" for number in range(3000))),
    ("untitled", "garden"),
    ("unknown", "zebra"),
]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


def _indexed(searcher: Bm25, rows: list[tuple[str, str, str]], folder: Path, settings: Settings):
    folder.mkdir()
    documents = folder.parent / f"{folder.name}.parquet"
    DataFrame(rows, columns=["doc_id", "title", "text"]).to_parquet(documents)
    return searcher.index(documents, folder, settings, _ignore)


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Path:
    folder = tmp_path_factory.mktemp("indexes") / "flat"
    facts = _indexed(Bm25(), DOCUMENTS, folder, settings)
    assert facts == {"documents": 21, "indexed": 21, "empty": 0}
    assert sorted(path.name for path in folder.iterdir()) == ["ids.parquet", "lucene"]
    return folder


def _search(searcher: Bm25, folder: Path, settings: Settings) -> dict[str, dict[str, float]]:
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    hits = searcher.search(folder, Request(queries, 10, settings, _ignore))
    return {
        str(query): dict(zip(own["doc_id"], own["score"], strict=True))
        for query, own in hits.groupby("query_id", sort=False)
    }


def _bm25(n_with: int, frequency: int, length: int, k1: float = 0.9, b: float = 0.4) -> float:
    """Lucene's BM25 of one word: 20 documents with words, of 3 words each on average."""
    idf = log(1 + (20 - n_with + 0.5) / (n_with + 0.5))
    return idf * frequency / (frequency + k1 * (1 - b + b * length / 3))


@pytest.mark.long
def test_flat_bm25_scores_are_those_of_the_formula(flat: Path, settings: Settings) -> None:
    hits = _search(Bm25(), flat, settings)
    expected = {"id with blanks": _bm25(2, 2, 4), "title\tonly": _bm25(2, 1, 2)}
    assert hits["q 1"] == pytest.approx(expected, abs=1e-4)
    assert hits["long"] == pytest.approx(expected, abs=1e-4)
    assert hits["untitled"] == pytest.approx(
        {"title\tonly": _bm25(2, 1, 2), "untitled": _bm25(2, 1, 3)}, abs=1e-4
    )
    assert list(hits["tie"])[:2] == ["10", "9"]
    assert hits.keys() == {"q 1", "tie", "long", "untitled"}


@pytest.mark.long
def test_parameters_of_the_name_reach_lucene(flat: Path, settings: Settings) -> None:
    hits = _search(Bm25(k1=1.2, b=0.75), flat, settings)
    assert hits["q 1"]["title\tonly"] == pytest.approx(_bm25(2, 1, 2, 1.2, 0.75), abs=1e-4)


@pytest.mark.long
def test_rm3_finds_documents_through_the_words_of_the_first_ones(
    flat: Path, settings: Settings
) -> None:
    """The relevance model: shares of the words of each first document, times its score.

    Night is in three documents, more than a tenth of all.
    """
    hits = _search(Rm3(), flat, settings)
    assert list(hits["q 1"])[2:] == ["untitled"], "it has cat and garden from those that purr"
    assert "unknown" not in hits
    first, second = _bm25(2, 2, 4), _bm25(2, 1, 2)
    cat, garden = first / 3 / (first + second) / 2, second / 2 / (first + second) / 2
    purr = 1 - cat - garden
    expected = {
        "id with blanks": purr * first + cat * _bm25(2, 1, 4),
        "title\tonly": purr * second + garden * _bm25(2, 1, 2),
        "untitled": (cat + garden) * _bm25(2, 1, 3),
    }
    assert hits["q 1"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.long
def test_multifield_adds_fields_and_leaves_documents_without_text_out(
    tmp_path: Path, settings: Settings
) -> None:
    facts = _indexed(Multifield(), DOCUMENTS, tmp_path / "fields", settings)
    assert facts == {"documents": 21, "indexed": 20, "empty": 1}
    hits = _search(Multifield(), tmp_path / "fields", settings)
    assert list(hits["q 1"]) == ["id with blanks"]
    assert list(hits["tie"]) == ["10", "9", "untitled"]
    weighted = _search(Multifield(title=0.0), tmp_path / "fields", settings)
    assert 0 < weighted["tie"]["9"] < hits["tie"]["9"]


@pytest.mark.long
def test_multifield_searches_collections_without_any_title(
    tmp_path: Path, settings: Settings
) -> None:
    rows = [("a", "", "purr"), ("b", "", "bark")]
    _indexed(Multifield(), rows, tmp_path / "untitled", settings)
    hits = _search(Multifield(), tmp_path / "untitled", settings)
    assert list(hits["q 1"]) == ["a"]


def test_no_words_to_search_is_no_hits_and_no_java(tmp_path: Path, settings: Settings) -> None:
    queries = DataFrame({"query_id": ["q"], "text": ["\t"]})
    hits = Bm25().search(tmp_path / "nowhere", Request(queries, 10, settings, _ignore))
    assert list(hits.columns) == ["query_id", "doc_id", "score"]
    assert hits.empty


@pytest.mark.long
def test_a_failure_of_java_is_one_sentence_and_its_log_is_kept(
    tmp_path: Path, settings: Settings
) -> None:
    settings = replace(settings, home=tmp_path)
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    with pytest.raises(Unavailable, match="does not appear to be a valid index"):
        Bm25().search(tmp_path / "nowhere", Request(queries, 10, settings, _ignore))
    (log,) = (tmp_path / "logs").iterdir()
    assert "valid index" in log.read_text("utf-8")


def test_too_small_a_heap_names_the_setting(flat: Path, settings: Settings) -> None:
    with pytest.raises(Unavailable, match="set BEIRSCOPE_JAVA_MEMORY to more"):
        _search(Bm25(), flat, replace(settings, java_memory="3m"))


def test_a_heap_that_is_no_size_is_refused(flat: Path, settings: Settings) -> None:
    with pytest.raises(WrongInput, match="like 2g"):
        _search(Bm25(), flat, replace(settings, java_memory="plenty"))

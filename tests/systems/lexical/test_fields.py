"""Best fields, word pieces and Polish on tiny worlds in real Lucene, against the formula."""

from collections import defaultdict
from math import log
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.corpora.word_pieces import word_pieces
from compute.intake import imports
from compute.recompute import pairs
from compute.store.loading import Bench
from compute.systems import system
from compute.systems.lexical.bm25 import BestFields, Bm25, Multifield, Rm3, WordPiece
from compute.systems.searcher import Request
from tests.support.tiny import write_tiny

Fields = dict[str, list[str]]
"""The terms of each document in one field."""

ROWS = [
    ("both", "Cat purr", "purr purr night"),
    ("text", "", "the cat barking"),
    ("title", "Dog's garden", ""),
    ("nothing", "", ""),
    ("long", "Dogs", "dogs and gardens near the garden at night"),
]
TITLES: Fields = {"both": ["cat", "purr"], "title": ["dog", "garden"], "long": ["dog"]}
TEXTS: Fields = {
    "both": ["purr", "purr", "night"],
    "text": ["cat", "bark"],
    "long": ["dog", "garden", "near", "garden", "night"],
}
POLISH = [
    ("kot", "Koty domowe", "Na dachu śpi kot sąsiada."),
    ("pies", "Pies", "Pies szczeka na listonosza w ogrodzie."),
    ("miasto", "Kraków", "W Krakowie jest wiele ogrodów."),
]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


def _indexed(
    searcher: Bm25, rows: list[tuple[str, str, str]], folder: Path, settings: Settings
) -> Path:
    folder.mkdir()
    documents = folder.parent / f"{folder.name}.parquet"
    DataFrame(rows, columns=["doc_id", "title", "text"]).to_parquet(documents)
    facts = searcher.index(documents, folder, settings, _ignore)
    assert facts["documents"] == len(rows)
    return folder


def _search(
    searcher: Bm25, folder: Path, queries: list[str], settings: Settings
) -> list[dict[str, float]]:
    frame = DataFrame({"query_id": [str(n) for n in range(len(queries))], "text": queries})
    hits = searcher.search(folder, Request(frame, 10, settings, _ignore))
    found = {str(query): own for query, own in hits.groupby("query_id")}
    return [
        dict(zip(found[number]["doc_id"], found[number]["score"], strict=True))
        if number in found
        else {}
        for number in frame["query_id"]
    ]


def _bm25(field: Fields, query: list[str], k1: float, b: float) -> dict[str, float]:
    """Lucene's BM25 of every document that has a term of the query, over one field."""
    mean = sum(map(len, field.values())) / len(field)
    scores: defaultdict[str, float] = defaultdict(float)
    for term in query:
        n_with = sum(term in terms for terms in field.values())
        idf = log(1 + (len(field) - n_with + 0.5) / (n_with + 0.5))
        for doc_id, terms in field.items():
            if frequency := terms.count(term):
                norm = k1 * (1 - b + b * len(terms) / mean)
                scores[doc_id] += idf * frequency / (frequency + norm)
    return dict(scores)


def _best(query: list[str], tie_breaker: float, k1: float, title: float) -> dict[str, float]:
    fields = [
        {doc_id: title * score for doc_id, score in _bm25(TITLES, query, k1, 0.75).items()},
        _bm25(TEXTS, query, k1, 0.75),
    ]
    scores = {}
    for doc_id in fields[0].keys() | fields[1].keys():
        low, high = sorted(field.get(doc_id, 0) for field in fields)
        scores[doc_id] = high + tie_breaker * low
    return scores


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Path:
    return _indexed(BestFields(), ROWS, tmp_path_factory.mktemp("indexes") / "best", settings)


@pytest.mark.long
def test_best_fields_are_the_better_one_and_a_part_of_the_other(
    fields: Path, settings: Settings
) -> None:
    long = "cats purr " + " ".join(f"w{n} " * 3 for n in range(1500))
    hits = _search(BestFields(), fields, ["cats purr", "a garden dog", "the", long], settings)
    first = _best(["cat", "purr"], 0.5, k1=1.2, title=1)
    assert hits[0] == pytest.approx(first, abs=1e-5)
    assert hits[1] == pytest.approx(_best(["garden", "dog"], 0.5, k1=1.2, title=1), abs=1e-5)
    assert "title" in hits[1], "a document without text is found by its title"
    assert hits[2] == {}
    assert hits[3] == hits[0], "words beyond the first 1,024 do not count, and are no error"


@pytest.mark.long
def test_best_fields_take_their_parameters_from_the_name(fields: Path, settings: Settings) -> None:
    searcher = system("bm25-elasticsearch(k1=2,title=0.5,tie_breaker=0)").search
    assert isinstance(searcher, BestFields)
    assert searcher == BestFields(k1=2.0, title=0.5, tie_breaker=0.0)
    (hits,) = _search(searcher, fields, ["purr garden"], settings)
    assert hits == pytest.approx(_best(["purr", "garden"], 0, k1=2, title=0.5), abs=1e-5)
    with pytest.raises(WrongInput, match="tie_breaker is 2"):
        system("bm25-elasticsearch(tie_breaker=2)")


@pytest.mark.long
def test_word_pieces_are_the_terms(tmp_path: Path, settings: Settings) -> None:
    tokeniser = word_pieces()

    def pieces(text: str) -> list[str]:
        return tokeniser.encode(text, add_special_tokens=False).tokens

    field = {doc_id: pieces(f"{title} {text}") for doc_id, title, text in ROWS}
    assert field["both"] == ["cat", "pu", "##rr", "pu", "##rr", "pu", "##rr", "night"]
    folder = _indexed(WordPiece(), ROWS, tmp_path / "pieces", settings)
    queries = ["purring at night", "the dog's", "\n"]
    hits = _search(WordPiece(), folder, queries, settings)
    del field["nothing"]
    for query, found in zip(queries, hits, strict=True):
        assert found == pytest.approx(_bm25(field, pieces(query), 0.9, 0.4), abs=1e-4)


def test_a_query_is_cut_before_one_piece_too_many() -> None:
    vocabulary = sorted(word_pieces().get_vocab())
    words = [word for word in vocabulary if word.isascii() and word.isalpha() and word.islower()]
    cut = WordPiece()._query(" ".join(["the", *words[:2000]])).split()
    assert len(set(cut)) == 1024
    assert cut[0] == "the"


@pytest.mark.long
@pytest.mark.parametrize("searcher", [Bm25(), BestFields()], ids=["flat", "best fields"])
def test_inflected_forms_meet_in_polish(searcher: Bm25, tmp_path: Path, settings: Settings) -> None:
    polish = searcher.for_language("pl")
    folder = _indexed(polish, POLISH, tmp_path / "polish", settings)
    hits = _search(polish, folder, ["kotami", "psami w Krakowie", "ogród", "zażółć"], settings)
    assert [set(found) for found in hits] == [
        {"kot"},
        {"pies", "miasto"},
        {"pies", "miasto"},
        set(),
    ]


def test_the_language_is_in_the_identity_and_english_is_as_it_was() -> None:
    for name in ("bm25", "bm25-multifield", "bm25-rm3", "bm25-elasticsearch"):
        searcher = system(name).search
        assert isinstance(searcher, Bm25)
        polish = searcher.for_language("pl")
        assert "language" not in searcher.identity()
        assert searcher.for_language("en") == searcher.for_language("de") == searcher
        assert "Polish" in polish.index_identity()["analyser"]
        assert polish.for_language("en") == searcher
    assert WordPiece().for_language("pl") == WordPiece()
    assert Bm25().index_identity() == Rm3().index_identity() != Multifield().index_identity()


def test_a_polish_dataset_is_searched_in_polish(bench: Bench, tmp_path: Path) -> None:
    """Documents and queries are the same here, the index and the run are not."""
    folder = write_tiny(tmp_path / "tiny")
    english, polish = (
        pairs.pair(
            bench,
            system("bm25"),
            imports.import_dataset(
                bench, f"tiny-{language}", path=folder, language=language
            ).dataset,
        )
        for language in ("en", "pl")
    )
    assert english.searcher == Bm25()
    assert polish.searcher == Bm25(language="pl")
    assert polish.names.index != english.names.index
    assert polish.names.hits != english.names.hits

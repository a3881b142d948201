"""Counts of words: by hand, equal to a plain count in Python, and published whole or not at all."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.corpora import overlap
from compute.corpora.overlap.counting import SLICE_WORDS, counted, in_order
from compute.corpora.overlap.tokens import tokeniser_record
from compute.corpora.word_pieces import word_pieces
from compute.intake import imports
from compute.recompute import run
from compute.store import freshness
from compute.store.loading import Bench
from compute.store.store import Part, Store
from tests.support.corpora import Text, documents, load, weighted_jaccard
from tests.support.storage import open_store
from tests.support.worlds import FEWER

# Title, text. Of the last two nothing is a word.
TEXTS = [
    ("Füße", "Die FÜSSE, die Füße_2"),
    ("", "x\u00b2 ٣ don't"),
    ("Only", ""),
    ("", ""),
    ("…", "— !"),
]
UNIGRAMS = {
    "füße": 1,
    "die": 2,
    "füsse": 1,
    "füße_2": 1,
    "x²": 1,
    "٣": 1,
    "don": 1,
    "t": 1,
    "only": 1,
}
BIGRAMS = {
    "füße die": 1,  # across title and text
    "die füsse": 1,
    "füsse die": 1,
    "die füße_2": 1,
    "x² ٣": 1,
    "٣ don": 1,
    "don t": 1,
}
# No documents apart ever make a bigram; letters of every kind, marks, blanks and control signs.
_texts = st.text(
    st.sampled_from("aB_ 1ßΣςİĞ½é\u0301日本\n\t\r\x00\x0b\xa0\u2028-'ǅ𝒜٣"), max_size=12
)
_PIECES = (
    *("[SEP]", "[MASK]x", "don't", "Füße", "日本語", "a" * 101, "e\u0301", "\u0301", "\x0b"),
    *("\xa0", "\u200b", "\u2028", "unaffable", "\t", "\r\n", "x.y", "İ", "ΑΣ", "\x00", "🙂"),
)
_pieces = st.lists(st.sampled_from(_PIECES), max_size=8).map(" ".join)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    store = open_store(tmp_path / "home")
    return Bench(store, store.settings)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


def words(text: str) -> list[str]:
    """The words of a text, letter by letter."""
    # Unicode's simple mapping has one letter for one: Python's has two for this one.
    lowered = "".join("i" if letter == "İ" else letter.lower() for letter in text)
    kept = [c if c == "_" or unicodedata.category(c)[0] in "LN" else " " for c in lowered]
    return "".join(kept).split(" ")


def plain(texts: Sequence[Text]) -> tuple[Counter[str], Counter[str]]:
    """Uni- and bigrams, counted one by one."""
    unigrams, bigrams = Counter[str](), Counter[str]()
    for title, text in texts:
        found = [word for word in words(f"{title} {text}") if word]
        unigrams.update(found)
        bigrams.update(f"{one} {two}" for one, two in pairwise(found))
    return unigrams, bigrams


def terms(
    file: Path, kind: str = "ngrams", slice_words: int = SLICE_WORDS
) -> dict[int, dict[str, int]]:
    """Count by term by n, as DuckDB counts."""
    now = Settings(home=file.parent)
    with counted(kind, file, now, slice_words=slice_words) as connection:
        rows = connection.execute("select n, term, count from counted").fetchall()
    found: dict[int, dict[str, int]] = {1: {}, 2: {}}
    for n, term, count in rows:
        assert term not in found[n]
        found[n][term] = count
    return found


def test_words_and_pairs_of_neighbours_worked_by_hand(folder: Path) -> None:
    assert terms(documents(folder / "hand.parquet", TEXTS)) == {1: UNIGRAMS, 2: BIGRAMS}


@pytest.mark.long
@FEWER
@given(st.lists(st.tuples(_texts, _texts), max_size=20))
def test_words_are_those_of_a_plain_count(folder: Path, texts: list[Text]) -> None:
    unigrams, bigrams = plain(texts)
    assert terms(documents(folder / "plain.parquet", texts)) == {1: unigrams, 2: bigrams}


@pytest.mark.long
@FEWER
@given(st.lists(st.tuples(_pieces, _pieces), max_size=20))
def test_word_pieces_are_those_of_the_whole_texts(folder: Path, texts: list[Text]) -> None:
    """Pieces of text between blanks are cut up apart; the tokeniser never looks across."""
    pieces = word_pieces()
    expected = Counter[str]()
    for title, text in texts:
        expected.update(pieces.encode(f"{title} {text}", add_special_tokens=False).tokens)
    assert terms(documents(folder / "pieces.parquet", texts), "wordpieces")[1] == expected


@pytest.mark.long
def test_a_corpus_counted_in_slices_has_the_same_counts(folder: Path) -> None:
    file = documents(folder / "slices.parquet", TEXTS * 20)
    for kind in ("ngrams", "wordpieces"):
        whole = terms(file, kind)
        assert terms(file, kind, slice_words=30) == whole
        assert terms(file, kind, slice_words=1) == whole
    assert whole[1]["die"] == 40
    # Nothing of the slices stays.
    assert list((folder / "tmp").glob("counting-*")) == []


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_terms_are_in_the_same_order_however_many_are_sorted_at_once(
    folder: Path, at_once: int
) -> None:
    texts = [("", f"{'a ' * 3}b b {word} c{word}") for word in ("x", "y", "é", "日")]
    file = documents(folder / "order.parquet", texts)
    with counted("ngrams", file, Settings(home=folder), slice_words=4) as connection:
        found = [row for batch in in_order(connection, at_once) for row in batch.to_pylist()]
    expected = [
        {"n": n, "term": term, "count": count}
        for n, counts in enumerate(plain(texts), 1)
        for term, count in sorted(counts.items(), key=lambda one: (-one[1], one[0].encode()))
    ]
    assert found == expected


def stored(store: Store, kind: str = "ngrams") -> Part:
    part = store.part(kind, "tiny")
    assert part is not None
    return part


def test_counts_are_stored_the_most_frequent_first(bench: Bench, tmp_path: Path) -> None:
    loaded = load(bench, tmp_path, "tiny", TEXTS)
    assert overlap.count(bench, loaded)
    part = stored(bench.store)
    frame = run.read(part)
    assert frame["term"].tolist()[:2] == ["die", "don"]
    ordered = frame.sort_values(["n", "count", "term"], ascending=[True, False, True])
    assert frame.equals(ordered.reset_index(drop=True))
    assert part.provenance["units"] == {
        "unigrams": {"terms": 9, "tokens": 10},
        "bigrams": {"terms": 7, "tokens": 7},
    }
    assert part.provenance["tokeniser"]["name"] == "unicode-words"
    assert part.provenance["documents"] == 5
    assert set(pq.read_schema(part.path).names) == {"dataset", "n", "term", "count"}


@pytest.mark.long
def test_what_is_counted_is_not_counted_again_until_the_documents_change(
    bench: Bench, tmp_path: Path
) -> None:
    loaded = load(bench, tmp_path, "tiny", TEXTS)
    assert overlap.count(bench, loaded)
    first = stored(bench.store)
    assert not overlap.count(bench, loaded)
    assert overlap.count(bench, loaded, again=True)
    assert stored(bench.store).id != first.id
    assert stored(bench.store).fingerprint == first.fingerprint
    changed = load(bench, tmp_path, "tiny", [*TEXTS, ("", "more")])
    _, stale = freshness.split(bench.store.parts())
    assert {part.kind for part in stale} == {"ngrams", "wordpieces"}
    assert overlap.count(bench, changed)
    assert stored(bench.store).fingerprint != first.fingerprint
    assert "more" in set(run.read(stored(bench.store))["term"])


def test_a_collection_without_documents_cannot_be_counted(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "judged.tsv").write_text("q 0 d1 1\n", "utf-8")
    judged = imports.import_dataset(bench, "judged", qrels=tmp_path / "judged.tsv")
    with pytest.raises(WrongInput, match="no documents whose words"):
        overlap.count(bench, judged)


@pytest.mark.long
def test_words_of_every_script_are_those_of_the_same_text_with_blanks(
    bench: Bench, tmp_path: Path
) -> None:
    """Two Chinese collections, each also with blanks between the words; and NFD beside NFC."""
    chinese = ["检索", "系统", "模型", "学习", "质量"]
    one = [[chinese[n % 5], chinese[n * 2 % 5], chinese[n // 2 % 5]] for n in range(12)]
    texts = {"zh1": one, "zh2": one[:6], "th": [["ไทย", "ค้นหา", "เอกสาร"]], "fr": [["caf\u00e9"]]}
    for name, found in texts.items():
        for suffix, blank in (("", ""), ("-sp", " ")):
            rows = [("", blank.join(words)) for words in found]
            loaded = load(bench, tmp_path, name + suffix, rows)
            assert loaded.lengths is not None
            assert run.read(loaded.lengths)["n_words"].tolist() == [len(words) for words in found]
            overlap.count(bench, loaded)
    decomposed = load(bench, tmp_path, "nfd", [("", "Cafe\u0301")])
    overlap.count(bench, decomposed)
    overlap.compare(bench, ["zh1", "zh1-sp", "th", "nfd"])
    files = [part.path for part in bench.store.parts("overlap")]
    rows = pd.concat(pq.read_table(file).to_pandas() for file in files)
    alike = rows[rows["floor"] == 0].set_index(["unit", "dataset", "other"])["similarity"]
    zh1, zh2 = (Counter(word for words in found for word in words) for found in (one, one[:6]))
    expected = weighted_jaccard(zh1, zh2, 0)
    assert expected is not None and expected < 1
    for other in ("zh2", "zh2-sp"):
        assert alike["unigrams", "zh1", other] == pytest.approx(expected)
        assert alike["unigrams", "zh1-sp", other] == pytest.approx(expected)
    assert alike["unigrams", "nfd", "fr"] == 1
    assert alike["unigrams", "th", "th-sp"] == 1
    # What BERT's vocabulary lacks is nothing that two languages share.
    assert alike.get(("word pieces", "zh1", "th"), 0) == 0


def test_a_few_words_of_other_scripts_leave_the_counts_and_their_name(
    bench: Bench, tmp_path: Path
) -> None:
    texts = [("", f"some English words {n}") for n in range(101)]
    loaded = load(bench, tmp_path, "tiny", [*texts, ("", "cafe\u0301")])
    assert loaded.documents is not None
    assert loaded.documents.provenance["words"] == {"segmented": 0, "other": 1}
    assert tokeniser_record("ngrams", loaded.documents) == {
        "name": "unicode-words",
        "version": 1,
        "pattern": r"[\p{L}\p{N}_]+",
        "lower": True,
    }
    overlap.count(bench, loaded)
    assert {"cafe", "some"} < set(run.read(stored(bench.store))["term"])


class _Stopped(Exception):
    """Somebody cancels."""


@pytest.mark.long
@pytest.mark.parametrize("moment", ["unigrams", "bigrams", "word pieces"])
def test_counting_that_is_stopped_leaves_nothing(bench: Bench, tmp_path: Path, moment: str) -> None:
    def stop(done: int, total: int, unit: str) -> None:
        if unit == f"% of the {moment}":
            raise _Stopped

    loaded = load(bench, tmp_path, "tiny", TEXTS)
    before = bench.store.version(), sorted(bench.store.home.glob("parts/*/*"))
    with pytest.raises(_Stopped):
        overlap.count(replace(bench, progress=stop), loaded)
    assert (bench.store.version(), sorted(bench.store.home.glob("parts/*/*"))) == before
    assert overlap.count(bench, loaded)


def test_what_a_killed_count_left_goes(bench: Bench) -> None:
    left = bench.store.home / "tmp" / f"counting-{'0' * 32}"
    left.mkdir(parents=True)
    (left / "0.parquet").write_bytes(b"half")
    # Of the lock that its maker held the file is left.
    left.with_name(f"{left.name}.lock").touch()
    bench.store.tidy()
    assert not left.exists()

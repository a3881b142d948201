"""Near-equal texts: what counts as equal, the checked similarity, and made-up leaks by seeds."""

import random

import pytest

from compute.corpora.near_equal import LENGTH, LOWEST, THRESHOLD, Index, bands, plain

WORDS = [
    "".join(letters)
    for letters in (random.Random(n).choices("etaoinshrdlucm", k=3 + n % 8) for n in range(4_000))
]


def passage(source: random.Random, n_words: int) -> list[str]:
    return source.choices(WORDS, k=n_words)


def changed(source: random.Random, words: list[str], share: float) -> str:
    """The text with this share of its words replaced by others."""
    places = set(source.sample(range(len(words)), round(share * len(words))))
    return " ".join(source.choice(WORDS) if n in places else word for n, word in enumerate(words))


def dressed(words: list[str]) -> str:
    """The same words in other case, with punctuation."""
    return "  “" + ", ".join(words).upper() + "”!"


def test_case_punctuation_and_white_space_do_not_count() -> None:
    assert plain("  The QUICK,\tbrown—fox! ") == "the quick brown fox"
    assert plain("Straße ﬁn") == "strasse fin"
    assert plain("?!") == ""
    assert plain("检索系统") == plain("检索 系统")
    assert plain("हिन्दी") == "हिन्दी", "marks stay"


def test_similarity_is_that_of_the_character_grams() -> None:
    # abcde bcdef cdefg of one, bcdef cdefg defgh of the other: 2 shared of 4.
    index = Index(["abcdefg"], threshold=0.5)
    assert index.matches("bcdefgh") == [(0, 0.5)]
    assert Index(["abcdefg"], threshold=0.51).matches("bcdefgh") == []


def test_a_short_text_is_like_its_equal_alone_and_nothing_is_like_no_words() -> None:
    index = Index(["flu", "flu shot", "?", "flu"], threshold=0.3)
    assert index.matches("FLU.") == [(0, 1.0), (3, 1.0)]
    assert index.matches("flus") == [] == index.matches("...")
    assert Index(["flu shot"], threshold=1).matches("Flu shot") == [(0, 1.0)]


@pytest.mark.parametrize("threshold", [LOWEST, 0.5, THRESHOLD, 0.8, 0.95, 1])
def test_a_pair_at_the_threshold_is_missed_less_than_once_in_a_thousand(threshold: float) -> None:
    number, size = bands(threshold)
    assert number * size <= 128
    assert (1 - threshold**size) ** number < 1e-3


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [("copy", 1, 1), ("dressed", 1, 1), ("tenth", 0.95, 1), ("half", 0, 0)],
)
def test_leaks_of_known_size_are_found_and_nothing_else(
    seed: int, kind: str, least: float, most: float
) -> None:
    source = random.Random(seed)
    tested = [passage(source, 60) for _ in range(150)]
    how = {"copy": " ".join, "dressed": dressed}
    how |= {"tenth": lambda words: changed(source, words, 0.1)}
    how |= {"half": lambda words: changed(source, words, 0.5)}
    training = [(n, how[kind](words)) for n, words in enumerate(tested) if n % 3 == 0]
    training += [(-1, " ".join(passage(source, 60))) for _ in range(300)]
    index = Index([" ".join(words) for words in tested])
    found = [(of, place) for of, text in training for place, _ in index.matches(text)]
    right = sum(of == place for of, place in found)
    assert right == len(found), "precision 1"
    assert least <= right / 50 <= most, "recall"


@pytest.mark.long
def test_candidates_miss_nothing_that_checking_every_pair_finds() -> None:
    source = random.Random(7)
    tested = [passage(source, 12) for _ in range(60)]
    training = [changed(source, words, share) for words in tested for share in (0.1, 0.2, 0.3)]
    index = Index([" ".join(words) for words in tested], threshold=0.6)

    def grams(text: str) -> set[str]:
        return {text[n : n + LENGTH] for n in range(max(len(text) - LENGTH, 0) + 1)}

    for text in training:
        of = [grams(" ".join(words)) for words in tested]
        alike = [len(one & grams(text)) / len(one | grams(text)) for one in of]
        wanted = [(n, value) for n, value in enumerate(alike) if value >= 0.6]
        assert index.matches(text) == wanted


def test_ascii_texts_have_the_words_that_unicode_rules_give() -> None:
    text = "".join(map(chr, range(128))) * 2
    assert plain(text) == plain(f"{text} é").removesuffix(" é")

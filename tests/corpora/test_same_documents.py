"""Documents of an older collection in a newer one: by texts, and only where that is clear."""

import random
from collections.abc import Callable, Mapping

import pytest

from compute.corpora import same_documents
from compute.corpora.same_documents import EQUAL, NEAR, PART, SAME_ID, WHOLE, Match, Matches

_LETTERS = random.Random(1)
WORDS = ["".join(_LETTERS.choices("etaoinshrdlu", k=_LETTERS.randint(2, 9))) for _ in range(3000)]


def made(n: int, seed: int = 0) -> dict[str, str]:
    """Texts of 40 to 160 words, frequent ones more often, as Zipf has them."""
    draw = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return {
        f"d{number}": " ".join(draw.choices(WORDS, weights, k=draw.randint(40, 160)))
        for number in range(n)
    }


def edited(text: str, share: float, draw: random.Random) -> str:
    words = text.split()
    return " ".join(draw.choice(WORDS) if draw.random() < share else word for word in words)


def permuted(texts: Mapping[str, str], seed: int = 0) -> dict[str, str]:
    """The old id behind each new one."""
    ids = [*texts]
    random.Random(seed).shuffle(ids)
    return dict(zip(ids, texts, strict=True))


def found(old: Mapping[str, str], new: Mapping[str, str], **alike: object) -> Matches:
    judged = {name: alike.get(name, name) for name in old}
    return same_documents.matches(lambda: old.items(), lambda: new.items(), judged)


def test_an_id_counts_only_where_its_text_is_equal() -> None:
    old = {"a": "one text of few words", "b": "another text", "c": "gone"}
    new = {"b": "One text of few words!", "a": "something else", "x": "another  text"}
    assert found(old, new).found == [Match("a", "b", EQUAL, 1.0), Match("b", "x", EQUAL, 1.0)]
    assert found(old, old | {"y": "gone"}).found == [Match(n, n, SAME_ID, 1.0) for n in old]


def test_equal_texts_judged_differently_are_ambiguous_and_judged_alike_are_not() -> None:
    old, new = {"a": "same words", "b": "same words"}, {"x": "same words", "y": "same words"}
    assert found(old, new) == Matches([], {"a", "b"})
    alike = found(old, new, a="alike", b="alike").found
    assert [(one.old, one.new) for one in alike] == [("a", "x"), ("b", "y")]


@pytest.mark.long
@pytest.mark.parametrize(("share", "least"), [(0.0, 1.0), (0.1, 0.99), (0.2, 0.97)])
def test_permuted_ids_of_edited_texts_are_found_and_none_is_wrong(
    share: float, least: float
) -> None:
    old, draw = made(300), random.Random(2)
    truth = permuted(old)
    new = {name: edited(old[of], share, draw) for name, of in truth.items()}
    matched = found(old, new).found
    assert all(truth[one.new] == one.old for one in matched)
    assert len(matched) >= least * len(old)


@pytest.mark.long
def test_a_document_that_went_is_not_found_in_others() -> None:
    old, draw = made(300), random.Random(3)
    truth = {name: of for name, of in permuted(old).items() if draw.random() < 0.5}
    new = {name: edited(old[of], 0.1, draw) for name, of in truth.items()}
    assert all(truth[one.new] == one.old for one in found(old, new).found)


def cut(texts: Mapping[str, str], size: int = 30) -> dict[str, str]:
    return {
        f"{name}#{start}": " ".join(text.split()[start : start + size])
        for name, text in texts.items()
        for start in range(0, len(text.split()), size)
    }


@pytest.mark.long
@pytest.mark.parametrize(("turn", "how"), [(False, PART), (True, WHOLE)])
def test_chunks_are_parts_of_their_document_and_documents_hold_their_chunks(
    turn: bool, how: str
) -> None:
    whole, chunks = made(60), cut(made(60))
    old, new = (chunks, whole) if turn else (whole, chunks)
    matched = found(old, new).found
    name: Callable[[str], str] = lambda one: one.partition("#")[0]  # noqa: E731
    assert all(name(one.old) == name(one.new) for one in matched)
    assert {one.how for one in matched} <= {how, NEAR, EQUAL}
    # The last chunk of a document may be too short.
    assert len(matched) >= 0.8 * len(chunks)


def test_boilerplate_with_a_single_other_word_is_ambiguous_once_edited() -> None:
    text, draw = made(1)["d0"], random.Random(5)
    old = {f"d{number}": f"{text} {word}" for number, word in enumerate(WORDS[100:140])}
    new = {f"x{name}": edited(of, 0.1, draw) for name, of in old.items()}
    matched = found(old, new)
    assert matched.found == []
    assert matched.ambiguous == {*old}

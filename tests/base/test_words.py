import pytest

from compute.base.words import counted, near, several


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 hits"), (1, "1 hit"), (2, "2 hits"), (8674, "8,674 hits")]
)
def test_a_noun_goes_with_its_number(number: int, words: str) -> None:
    assert counted(number, "hit") == words
    assert counted(number, "query") == words.replace("hits", "queries").replace("hit", "query")


def test_a_mistyped_name_is_answered_with_those_near_it() -> None:
    assert near("scifac", ["scifact", "nfcorpus"]) == "did you mean scifact? "
    assert near("xyz", ["scifact", "nfcorpus"]) == ""


def test_of_many_names_the_first_stand_with_the_number_of_the_others() -> None:
    assert several(["a", "b"], 2) == "a, b"
    assert several(["a", "b", "c"], 2, "system") == "a, b and 1 more system"
    assert several(["a"] * 1_002, 2) == "a, a and 1,000 more"

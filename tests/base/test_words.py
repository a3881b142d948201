import pytest

from compute.base.words import counted, near


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 hits"), (1, "1 hit"), (2, "2 hits"), (8674, "8,674 hits")]
)
def test_a_noun_goes_with_its_number(number: int, words: str) -> None:
    assert counted(number, "hit") == words
    assert counted(number, "query") == words.replace("hits", "queries").replace("hit", "query")


def test_a_mistyped_name_is_answered_with_those_near_it() -> None:
    assert near("scifac", ["scifact", "nfcorpus"]) == "did you mean scifact? "
    assert near("xyz", ["scifact", "nfcorpus"]) == ""

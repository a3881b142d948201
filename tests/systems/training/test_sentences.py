import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.systems.training.sentences import sentences
from tests.support.worlds import CASES


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("One. Two! Three? Four", "en", ["One.", "Two!", "Three?", "Four"]),
        ("See Fig. 2 for this. It rose, e.g. Twice.", "en", None),
        ("J. Smith came. Dr. Jones did not.", "en", ["J. Smith came.", "Dr. Jones did not."]),
        ("It rose by 3.5 units. then it fell.", "en", ["It rose by 3.5 units. then it fell."]),
        ('He said "No." Then he left.', "en", ['He said "No."', "Then he left."]),
        ("Zob. Rys. 2 w tym np. Warszawa. Drugie.", "pl", None),
        ("Zob. Rys. 2. Drugie.", "en", ["Zob.", "Rys.", "2.", "Drugie."]),
        ("  \n ", "en", []),
    ],
)
def test_where_a_sentence_ends(text: str, language: str, found: list[str] | None) -> None:
    expected = {
        "en": ["See Fig. 2 for this.", "It rose, e.g. Twice."],
        "pl": ["Zob. Rys. 2 w tym np. Warszawa.", "Drugie."],
    }
    assert sentences(text, language) == (found if found is not None else expected[language])


@CASES
@given(st.text(alphabet="abAB .!?\n\"'(é1", max_size=80), st.sampled_from(["en", "pl"]))
def test_nothing_of_a_text_is_lost_but_blanks(text: str, language: str) -> None:
    found = sentences(text, language)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in found)

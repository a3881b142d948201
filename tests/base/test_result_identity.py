"""What makes two results the same result."""

import pytest

from compute.base.result_identity import canonical_json, fingerprint
from compute.store.parts import KINDS


def test_a_fingerprint_stays_what_it_was() -> None:
    """Worked out by `sha256sum` over the canonical JSON: stored parts must stay valid."""
    found = fingerprint("hits", ["aa", "bb"], system="bm25", depth=1000)
    assert canonical_json({"b": [1, True, None], "a": "ł"}) == '{"a":"ł","b":[1,true,null]}'
    assert found == "4a2cbf2ec1dac3dfb854cde89f309121fa7282afad45bf8bc87ef9d94a987370"


def test_equal_numbers_are_one_identity_however_they_are_typed() -> None:
    assert fingerprint("hits", [], b=1) == fingerprint("hits", [], b=1.0)
    assert fingerprint("hits", [], b=0.4) != fingerprint("hits", [], b=0.5)


def test_the_order_of_parameters_does_not_matter_but_that_of_inputs_does() -> None:
    assert fingerprint("hits", [], k1=0.9, b=0.4) == fingerprint("hits", [], b=0.4, k1=0.9)
    assert fingerprint("scores", ["a", "b"]) != fingerprint("scores", ["b", "a"])


def test_kind_inputs_and_parameters_each_change_the_identity() -> None:
    different = {
        fingerprint("hits", ["a"]),
        fingerprint("top", ["a"]),
        fingerprint("hits", ["b"]),
        fingerprint("hits", ["a"], depth=10),
        fingerprint("hits", ["a"], depth="10"),
        fingerprint("hits", ["a"], depth=[10]),
    }
    assert len(different) == 6


def test_every_kind_of_part_has_a_format() -> None:
    assert all(fingerprint(kind, []) for kind in KINDS)


def test_an_unknown_kind_is_answered_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match="known: corpus, queries"):
        fingerprint("runs", [])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), {1: "a"}])
def test_what_json_cannot_hold_exactly_is_no_parameter(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        fingerprint("hits", [], value=value)


def test_one_string_is_no_list_of_inputs() -> None:
    with pytest.raises(TypeError, match="list"):
        fingerprint("hits", "abc")

"""Palettes, inks and the text of figures."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from compute.base.errors import WrongInput
from compute.views.query import rank_map
from compute.views.shared import theme

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""What is seen of a colour in linear RGB, at severity 1: Machado, Oliveira and Fernandes, A
physiologically-based model for simulation of color vision deficiency, TVCG 15 (6), 2009."""
NOTICED = 2.3
"""The distance in Lab (CIE76) that half of all observers notice side by side: Mahy, Van Eycken and
Oosterlinck, Color Research & Application 19 (2), 1994."""
APART = 6 * NOTICED
"""Marks are small and lie apart: several times what is noticed at an edge."""
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colour: str, vision: str) -> NDArray[np.float64]:
    """L, a, b of a colour as this vision sees it, under D65."""
    channels = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISIONS[vision] @ linear, 0, 1)
    ratio = (_XYZ @ seen) / _XYZ.sum(axis=1)
    bent = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = bent
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: str, other: str, vision: str) -> float:
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


def test_what_is_seen_of_colours_is_as_published() -> None:
    """White stays white; red and green of equal lightness are told apart by normal vision alone."""
    assert np.allclose(lab("#ffffff", "normal"), [100, 0, 0], atol=0.01)
    assert np.allclose(lab("#ff0000", "normal"), [53.24, 80.09, 67.2], atol=0.02)
    for vision in VISIONS:
        assert np.allclose(lab("#808080", vision), lab("#808080", "normal"), atol=0.01)
    red, green = "#c8553d", "#7d8a2e"
    assert distance(red, green, "normal") > 2 * APART > 4 * distance(red, green, "deuteranopia")


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", theme.PALETTES)
def test_marks_are_told_apart_by_any_colour_vision(name: str, vision: str) -> None:
    look = theme.palette(name)
    low, middle, high = (look.diverging[place] for place in (0, 5, -1))
    told_apart = {
        "domains, families, documents": look.categories,
        "won, lost, equal": (look.win, look.loss, look.muted),
        "loss, none, win": (low, middle, high),
        "the chosen cell": (look.outline, look.sequential[0], look.sequential[-1]),
        "a map of one grade": rank_map.colours([1], name)[1:],
        "a map of two grades": rank_map.colours([1, 2], name)[1:],
    }
    least = {
        words: min(distance(*pair, vision) for pair in combinations(colours, 2))
        for words, colours in told_apart.items()
    }
    assert {words: found for words, found in least.items() if found < APART} == {}


@pytest.mark.parametrize("name", theme.PALETTES)
@pytest.mark.parametrize("scale", ["sequential", "diverging"])
def test_the_ink_reads_on_every_shade_of_a_scale(name: str, scale: str) -> None:
    stops = getattr(theme.palette(name), scale)
    shades = [theme.colour(place / 500, stops) for place in range(501)]
    assert min(theme.contrast(theme.ink(shade), shade) for shade in shades) >= 4.3


def test_a_scale_runs_through_its_stops_and_is_clipped() -> None:
    stops = ("#000000", "#102030", "#ffffff")
    assert theme.colour(0.0, stops) == "#000000"
    assert theme.colour(0.25, stops) == "#081018"
    assert theme.colour(0.5, stops) == "#102030"
    assert theme.colour(7.0, stops) == "#ffffff"
    assert theme.colour(-1.0, stops) == "#000000"
    assert theme.colorscale(stops) == [[0.0, "#000000"], [0.5, "#102030"], [1.0, "#ffffff"]]


def test_text_from_outside_is_drawn_letter_by_letter() -> None:
    hostile = "<a href='javascript:x'>\n& $x$ <b>"
    assert theme.escape(hostile) == "&lt;a href='javascript:x'&gt; &amp; &#36;x&#36; &lt;b&gt;"
    assert theme.escape("x" * 80, longest=10) == "x" * 9 + "…"
    assert theme.escape("bm25(k1=1.2,b=0.75)", longest=12) == "bm25(k…0.75)"


def test_numbers_have_no_leading_zero_and_a_true_minus() -> None:
    assert [theme.plain(value) for value in (0.4765, 1.0, 0.0, -0.05)] == [
        ".476",
        "1.000",
        ".000",
        "−.050",
    ]
    assert theme.plain(float("nan")) == "–"
    assert [theme.signed(value) for value in (0.053, -0.175, 0.0001, -0.0001)] == [
        "+.053",
        "−.175",
        ".000",
        ".000",
    ]
    assert [theme.precise(value) for value in (0.757, 0.67891, -0.1)] == [
        "0.757",
        "0.6789",
        "−0.100",
    ]
    assert theme.precise(0.1, with_sign=True) == "+0.100"
    assert [theme.precise(value) for value in (-0.0, -0.00004)] == ["0.000", "0.000"]


def test_marks_tell_domains_apart_and_unknown_ones_stay_plain() -> None:
    marks = [theme.mark(domain, theme.DOMAINS, "light") for domain in theme.DOMAINS]
    assert len(set(marks)) == len(theme.DOMAINS)
    assert theme.mark("Law", theme.DOMAINS, "light") == (theme.palette("light").muted, "circle")


def test_an_unknown_theme_is_answered_with_the_known_ones() -> None:
    with pytest.raises(WrongInput, match="light, dark, print"):
        theme.palette("sepia")

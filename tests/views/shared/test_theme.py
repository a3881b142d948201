"""Palettes, inks and the text of figures."""

import pytest

from compute.base.errors import WrongInput
from compute.views.shared import theme


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


def test_marks_tell_domains_apart_and_unknown_ones_stay_plain() -> None:
    marks = [theme.mark(domain, theme.DOMAINS, "light") for domain in theme.DOMAINS]
    assert len(set(marks)) == len(theme.DOMAINS)
    assert theme.mark("Law", theme.DOMAINS, "light") == (theme.palette("light").muted, "circle")


def test_an_unknown_theme_is_answered_with_the_known_ones() -> None:
    with pytest.raises(WrongInput, match="light, dark, print"):
        theme.palette("sepia")

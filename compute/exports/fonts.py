"""Fonts of exported pictures: the families of each option, and which of them is installed."""

import shutil
import subprocess
from functools import cache

FAMILIES = {
    "page": ("Source Sans 3", "Source Sans Pro", "DejaVu Sans", "sans-serif"),
    "paper": ("Times New Roman", "Nimbus Roman", "Liberation Serif", "serif"),
}
"""Families by option; the first installed one is used. Layouts leave room for DejaVu, the
widest."""
SORTS = {"page": "Without serifs", "paper": "With serifs"}
_SECONDS = 10


def css(font: str) -> str:
    """Return the font families of an option as a value of CSS. The installed one comes first,
    because Chromium draws a missing family in fontconfig's substitute. Names are in quotation
    marks, since one that is not an identifier, such as Source Sans 3, would void the list; the
    last one is generic."""
    *named, generic = FAMILIES[font]
    known = dict.fromkeys(name for name in (found(font), *named) if name)
    return ", ".join([*(f"'{name}'" for name in known), generic])


@cache
def found(font: str) -> str:
    """Return the font family that this machine draws with; empty if unknown."""
    *named, generic = FAMILIES[font]
    given = (_family(name) for name in named)
    return next((name for name in given if name in named), "") or _family(generic)


def said(font: str) -> str:
    """Label an option with the family used in files: `Without serifs: DejaVu Sans`."""
    return f"{SORTS[font]}: {found(font) or ' or '.join(FAMILIES[font][:-1])}"


@cache
def _family(name: str) -> str:
    """Return the family that fontconfig, which Chromium uses on Linux, substitutes, if known."""
    program = shutil.which("fc-match")
    if program is None:
        return ""
    words = [program, "--format", "%{family[0]}", name]
    try:
        done = subprocess.run(words, capture_output=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip()

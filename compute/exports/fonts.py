"""Fonts of exported pictures: the families of each option, and the installed ones."""

import shutil
import subprocess
from functools import cache

FAMILIES = {
    "page": ("Source Sans 3", "Source Sans Pro", "DejaVu Sans", "sans-serif"),
    "paper": ("Times New Roman", "Nimbus Roman", "Liberation Serif", "serif"),
}
"""Families by option; the first installed one is used. Texts leave room for DejaVu, the widest."""
SORTS = {"page": "Without serifs", "paper": "With serifs"}
_SECONDS = 10


def css(font: str) -> str:
    """The families of a row of FAMILIES, for a browser: in quotation marks, since a name that is no
    identifier, such as Source Sans 3, would void the list; the last is a generic family."""
    *named, generic = FAMILIES[font]
    return ", ".join([*(f"'{name}'" for name in named), generic])


@cache
def found(font: str) -> str:
    """Family that this machine draws with; empty if unknown."""
    *named, generic = FAMILIES[font]
    given = (_family(name) for name in named)
    return next((name for name in given if name in named), "") or _family(generic)


def said(font: str) -> str:
    """Label of an option: `Without serifs: DejaVu Sans`, with the family used in the file."""
    return f"{SORTS[font]}: {found(font) or ' or '.join(FAMILIES[font][:-1])}"


@cache
def _family(name: str) -> str:
    """Family that fontconfig, which Chromium also uses on Linux, substitutes; else empty."""
    program = shutil.which("fc-match")
    if program is None:
        return ""
    words = [program, "--format", "%{family[0]}", name]
    try:
        done = subprocess.run(words, capture_output=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip()

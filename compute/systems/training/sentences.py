"""Splits texts into sentences by a small set of rules for each language."""

import re

_END = re.compile(r"""(?<=[.!?…])["'”’»)\]]*\s+(?=["'“„«(\[]*[\w])""")
_WORD = re.compile(r"(\w+(?:\.\w+)*)\.$")
_FOLLOWED = {
    "en": "al approx ca cf dr e.g eq etc fig figs i.e inc jr ltd mr mrs ms pp prof ref refs"
    " resp sr st vol vs",
    "pl": "al art dr e.g godz hab im in inż itd itp ks m.in mgr nr np ok pn por prof ps r red rys"
    " s str św tab tj tys tzn tzw ul ur w wg zm zob",
}
_ABBREVIATIONS = {language: frozenset(words.split()) for language, words in _FOLLOWED.items()}
"""Abbreviations that a full stop follows within a sentence, in lower case."""
_NUMBERED = frozenset({"no", "nos"})
"""Abbreviations only if a number follows."""


def sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of a text (en, pl), in order, without surrounding spaces. A sentence
    ends with . ! ? or … and a space, unless a lower-case letter follows, or the full stop belongs
    to an abbreviation or an initial (`J. Smith`). So a sentence that ends with an abbreviation is
    joined to the next one."""
    found, start = [], 0
    for end in _END.finditer(text):
        if _goes_on(text[start : end.start()], text[end.end() : end.end() + 9], language):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _goes_on(before: str, after: str, language: str) -> bool:
    """Return whether the sentence continues after `before`."""
    first = after.lstrip("\"'“„«([")[:1]
    if first.islower():
        return True
    word = _WORD.search(before)
    if word is None:
        return False
    last = word[1]
    if last.lower() in _NUMBERED:
        return first.isdigit()
    initial = len(last) == 1 and last.isupper()
    return initial or last.lower() in _ABBREVIATIONS.get(language, frozenset())

"""Old spellings of commands, which still work in this version."""

from collections.abc import Mapping, Sequence

from compute.commands.app import FAMILIES, HELP, name_of

_SHOWN = ("scores", "holes", "power", "estimates", "sets", "versions", "efficiency", "systems")
_ADMIN = ("adopt", "trash", "backup", "restore", "move-state", "demo", "ship", "snapshot")
OLD: Mapping[str, str] = {
    **{f"show {name}": name for name in _SHOWN},
    **{f"show {name}": f"{name} show" for name in ("overlap", "lengths", "leakage")},
    "show jobs": "jobs list",
    "show": "",
    **{name: f"admin {name}" for name in _ADMIN},
    "overlap": "overlap compute",
    "lengths": "lengths compute",
    "leakage": "leakage find",
    "score": "rescore",
    "sample-on": "tasks extend",
}
"""New spelling of each old command; the first match counts."""


def renewed(words: Sequence[str]) -> tuple[list[str], str]:
    """Return arguments in the new spelling, and a hint ("" if they already were)."""
    kept = list(words)
    if name_of(kept) or (kept[:1] and kept[0] in FAMILIES and kept[1:2] and kept[1] in HELP):
        return kept, ""
    if kept[:1] == ["show"]:
        # Options could precede the word that names the thing to show.
        what = next((n for n, word in enumerate(kept) if f"show {word}" in OLD), 1)
        kept[1:1] = [kept.pop(what)] if len(kept) > what else []
    for old, new in OLD.items():
        if kept[: old.count(" ") + 1] == old.split(" "):
            rest = kept[old.count(" ") + 1 :]
            if new == "scores" and any(word.split("=")[0] == "--slice" for word in rest):
                new = "slices"
            hint = f"`{old}` is now `{new}`: the next version removes the old spelling"
            return [*new.split(), *rest], hint if new else ""
    return kept, ""

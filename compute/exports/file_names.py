"""Names of exported files, made of what people see: a-z, 0-9 and - alone, never a path."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping

from compute.datasets.published import OVERLAP
from compute.exports.formats import AS_SHOWN, PICTURES

LONGEST = 80
"""Letters of a name, without the ending."""
EVERY = ("", "Average", "All datasets", "mean over datasets")
"""What pickers of datasets show where a figure is of several."""
OF_ALL = {"medians"}
"""Figures of all datasets, though the page has a picker of one."""
OF_ORDER = {"order", "bump"}
"""What of the Leaderboard may be about one dataset: that of its order."""
UNMEASURED = {
    *("judged", "likeness", "lists", "ranks", "all", "sets", "set-grades", "values", "estimates"),
    *("estimated-numbers", "three-ways", "kappas", "published-effect"),
}
"""Figures that show no measure, though the page has a picker of one."""
_OF_TWO = (
    *("differences", "scatter", "likeness", "kinds", "kinds_table", "datasets", "rows", "pair"),
    *("gaps", "tests", "different", "fused", "fused_best", "fused_losses"),
)
_OF_SETS = ("set_ranks", "set-boards", "set-pairs", "set-grades")
ALSO: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_TWO, ("a", "b")),
    **dict.fromkeys(("kinds", "kinds_table"), ("a", "b", "slice")),
    "different": ("a", "b", "by"),
    "by_kind": ("slice",),
    **dict.fromkeys(_OF_SETS, ("systems", "set", "beside")),
    "set-grades": ("set", "beside"),
    **dict.fromkeys(("intervals", "bounds", "orders", "ranks"), ("systems",)),
    **dict.fromkeys(("estimates", "estimated-numbers"), ("sample", "estimated")),
    "three-ways": ("sample", "estimated", "machine"),
    "kappas": ("weights",),
    "lists": ("systems", "ranks"),
    **dict.fromkeys(("gains", "values"), ("systems",)),
    "sum": ("systems", "sum"),
    **dict.fromkeys(("map", "all"), ("system", "other", "order", "ranks")),
    "neighbours": ("floor", "node"),
    "pairs": ("floor", "order"),
    "graph": ("floor", "lines"),
    **dict.fromkeys(("cells", "board", "wins"), ("baseline",)),
    "bump": ("beside",),
    **dict.fromkeys(("lengths", "medians"), ("systems", "axis", "cut")),
}
"""What else figures and tables are of: pickers whose choices their names have."""
OF_PAGE: Mapping[str, tuple[str, ...]] = {
    "leaderboard": ("task", "domain", "group", "family", "returned", "shared", "systems"),
    "efficiency": ("systems",),
}
"""What all figures and tables of a page are of."""
OF_A_QUERY = {"lists", "gains", "values", "sum"}

Shown = Mapping[str, object]
"""What the pickers of a page show, by their keys."""


def slug(words: str) -> str:
    """Words as a part of a name; `unnamed` where none of them can be written so. In what is too
    long a digest stands for the end."""
    plain = unicodedata.normalize("NFKD", words.replace("@", "")).encode("ascii", "ignore").decode()
    name = "-".join(re.findall("[a-z0-9]+", plain.lower())) or "unnamed"
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - 9].strip('-')}-{digest}"


def dataset(key: str, shown: Shown) -> str:
    """The dataset that a figure or table is of; empty where it is of several."""
    if key in OF_ALL:
        return ""
    found = str(shown.get("over" if key in OF_ORDER else "dataset", ""))
    return "" if found in EVERY else found


def measure(key: str, shown: Shown) -> str:
    """The measure that a figure shows, or the kind of words; empty for neither."""
    return "" if key in UNMEASURED else str(shown.get("measure") or shown.get("unit") or "")


def printed(shown: Shown) -> str:
    """Where the numbers are printed; empty where they are computed."""
    return str(shown.get("table", OVERLAP)) if shown.get("numbers") == "Published" else ""


def of_figure(page: str, key: str, shown: Shown) -> str:
    """`beir-v4-t2-ndcg10`: where the numbers are from, the figure, and what else was chosen."""
    where, *words = said(page, key, shown)
    return slug(" ".join([slug(where).replace("-table-", "-t"), *words]))


def heading(key: str, shown: Shown, titles: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What a figure is of, in words: its dataset or the printed table, its query and measure.

    `titles` are those of the options of each picker.
    """
    name = dataset(key, shown)
    called = {**titles.get("dataset", {}), **titles.get("over", {})}.get(name, name)
    asked = query(key, shown)
    group = str(shown.get("queries") or "")
    kind = f"queries with {titles.get('queries', {}).get(group, group)}" if group else ""
    words = (called or printed(shown), f"query {asked}" * bool(asked), kind)
    return [word for word in (*words, measure(key, shown)) if word]


def ending(form: str, width: str) -> str:
    """`-84mm.pdf`: of a picture as wide as that on paper; as wide as on a page it says no width."""
    on_paper = form in PICTURES and width != AS_SHOWN
    return f"-{width}mm.{form}" if on_paper else f".{form}"


def said(page: str, key: str, shown: Shown) -> list[str]:
    """The words that a name is made of, as they are; different ones may make the same name."""
    print_ = printed(shown)
    table = str(shown.get("table", "")) if print_ else ""
    words = [dataset(key, shown) or table or page] + [key] * (key not in ("", "cells"))
    if key:
        also = (*ALSO.get(key, ()), *OF_PAGE.get(page, ()))
        words += [name if shown.get(name) is True else _listed(shown.get(name)) for name in also]
    words += [query(key, shown), f"top{shown['k']}" if "k" in shown else "", measure(key, shown)]
    words += [] if print_ else [str(shown.get("queries", ""))]
    words += ["published"] * bool(print_ and not table)
    return [word for word in words if word]


def _listed(chosen: object) -> str:
    return " ".join(map(str, chosen)) if isinstance(chosen, list) else str(chosen or "")


def query(key: str, shown: Shown) -> str:
    """The query that a figure is of; empty for several."""
    return str(shown.get("query", "")) if key in OF_A_QUERY else ""

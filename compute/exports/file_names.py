"""Names of exported files, made of the visible labels: a-z, 0-9 and - only, never a path."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence

from compute.datasets.published import OVERLAP
from compute.exports.formats import AS_SHOWN, PICTURES

LONGEST = 80
"""Letters of a name, without the ending."""
EVERY = ("", "Average", "All datasets", "mean over datasets")
"""Values of controls of datasets where a figure is of several."""
OF_DATASETS, OF_MEASURES = ("dataset", "over"), ("measure", "unit")
"""Controls of datasets, and of measures or kinds of words."""
OF_VIEW = ("dataset", "query", "k", *OF_MEASURES)
"""Controls that a view as a whole is of."""

Shown = Mapping[str, object]
"""Values of a page's controls, by their keys."""


def slug(words: str) -> str:
    """Words as a part of a name; `unnamed` where none of them can be written so. In what is too
    long a digest stands for the end."""
    plain = unicodedata.normalize("NFKD", words.replace("@", "")).encode("ascii", "ignore").decode()
    name = "-".join(re.findall("[a-z0-9]+", plain.lower())) or "unnamed"
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - 9].strip('-')}-{digest}"


def dataset(of: Sequence[str], shown: Shown) -> str:
    """The dataset that something is of; empty if it is of several."""
    found = str(next((shown[key] for key in OF_DATASETS if key in of and key in shown), ""))
    return "" if found in EVERY else found


def printed(shown: Shown) -> str:
    """The printed table that the numbers come from; empty if they are computed."""
    return str(shown.get("table", OVERLAP)) if shown.get("numbers") == "Published" else ""


def name(words: Sequence[str]) -> str:
    """`beir-v4-t2-ndcg10`, of what `said` returns."""
    where, *rest = words
    return slug(" ".join([slug(where).replace("-table-", "-t"), *rest]))


def heading(of: Sequence[str], shown: Shown, titles: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The dataset or the printed table, the query, the query group and the measure of a figure.

    `titles` are those of the options of each control.
    """
    name, print_ = dataset(of, shown), printed(shown)
    called = {**titles.get("dataset", {}), **titles.get("over", {})}.get(name, name)
    query = f"query {shown['query']}" if "query" in of and shown.get("query") else ""
    group = str(shown.get("queries") or "")
    kind = f"queries with {titles.get('queries', {}).get(group, group)}" if group else ""
    measures = [str(shown.get(key) or "") for key in OF_MEASURES if key in of]
    return [word for word in (called or print_, query, kind, *measures) if word]


def ending(form: str, width: str) -> str:
    """`-84mm.pdf`: of a picture as wide as that on paper; as wide as on a page it says no width."""
    on_paper = form in PICTURES and width != AS_SHOWN
    return f"-{width}mm.{form}" if on_paper else f".{form}"


def said(page: str, key: str, of: Sequence[str], shown: Shown) -> list[str]:
    """The words that a name is made of: where the numbers are from, the key, and the values that
    it is of. Different ones may make the same name."""
    print_ = printed(shown)
    table = str(shown.get("table", "")) if print_ else ""
    words = [dataset(of, shown) or table or page, key]
    words += [_said(one, shown.get(one)) for one in of if one not in OF_DATASETS]
    # In print all queries count.
    words += [] if print_ else [str(shown.get("queries", ""))]
    words += ["published"] * bool(print_ and not table)
    return [word for word in words if word]


def _said(key: str, value: object) -> str:
    if value is True:
        return key
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f"top{words}" if key == "k" and words else words

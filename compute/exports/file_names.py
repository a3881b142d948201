"""Names exported files after visible labels, with only a-z, 0-9 and -, so never with a path."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence

from compute.datasets.published import OVERLAP
from compute.exports.formats import AS_SHOWN, PICTURES

LONGEST = 80
"""Maximum number of characters in a name, without the extension."""
EVERY = ("", "Average", "All datasets", "mean over datasets")
"""Values of dataset controls that mean several datasets."""
OF_DATASETS, OF_MEASURES = ("dataset", "over"), ("measure", "unit")
"""Keys of controls for datasets, and for measures or units of words."""
OF_VIEW = ("dataset", "query", "k", *OF_MEASURES)
"""Keys of controls that apply to a whole view."""

Shown = Mapping[str, object]
"""Values of a page's controls, by key."""


def slug(words: str) -> str:
    """Turn words into a part of a name; `unnamed` if no character can be used. A digest replaces
    the end of a long name."""
    plain = unicodedata.normalize("NFKD", words.replace("@", "")).encode("ascii", "ignore").decode()
    name = "-".join(re.findall("[a-z0-9]+", plain.lower())) or "unnamed"
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - 9].strip('-')}-{digest}"


def dataset(of: Sequence[str], shown: Shown) -> str:
    """Return the dataset of a figure or table, empty for several; `of` has its controls' keys."""
    found = str(next((shown[key] for key in OF_DATASETS if key in of and key in shown), ""))
    return "" if found in EVERY else found


def printed(shown: Shown) -> str:
    """Return the published table from which the values come; empty for computed values."""
    return str(shown.get("table", OVERLAP)) if shown.get("numbers") == "Published" else ""


def name(words: Sequence[str]) -> str:
    """Return a file name such as `beir-v4-t2-ndcg10`, from the words of `said`."""
    where, *rest = words
    return slug(" ".join([slug(where).replace("-table-", "-t"), *rest]))


def heading(of: Sequence[str], shown: Shown, titles: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the dataset or published table, the query, the query group and the measure of a
    figure. `titles` has the titles of each control's options."""
    name, print_ = dataset(of, shown), printed(shown)
    called = {**titles.get("dataset", {}), **titles.get("over", {})}.get(name, name)
    query = f"query {shown['query']}" if "query" in of and shown.get("query") else ""
    group = str(shown.get("queries") or "")
    kind = f"queries with {titles.get('queries', {}).get(group, group)}" if group else ""
    measures = [str(shown.get(key) or "") for key in OF_MEASURES if key in of]
    return [word for word in (called or print_, query, kind, *measures) if word]


def ending(form: str, width: str) -> str:
    """Return an ending such as `-84mm.pdf`, with a picture's width unless it is as on the page."""
    on_paper = form in PICTURES and width != AS_SHOWN
    return f"-{width}mm.{form}" if on_paper else f".{form}"


def said(page: str, key: str, of: Sequence[str], shown: Shown) -> list[str]:
    """Return the words of a name: the source of the values, the key, and the control values.
    Different words may give the same name."""
    print_ = printed(shown)
    table = str(shown.get("table", "")) if print_ else ""
    words = [dataset(of, shown) or table or page, key]
    words += [_said(one, shown.get(one)) for one in of if one not in OF_DATASETS]
    # Published scores cover all queries.
    words += [] if print_ else [str(shown.get("queries", ""))]
    words += ["published"] * bool(print_ and not table)
    return [word for word in words if word]


def _said(key: str, value: object) -> str:
    """Return a control's value as words: `top10` for the key k, the key itself for a switch."""
    if value is True:
        return key
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f"top{words}" if key == "k" and words else words

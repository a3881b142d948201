"""Writes a site as a folder: completely in another place, from which it is then moved."""

import html
import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

from pandas import DataFrame
from plotly.offline import get_plotlyjs

from compute.base import json_files
from compute.base.errors import WrongInput
from compute.base.permissions import usual
from compute.base.printable import printable
from compute.base.settings import PROJECT
from compute.exports import tables
from compute.exports.file_names import slug
from compute.exports.pages import PAGES
from compute.exports.site import composing, figures, pieces
from compute.exports.site.asking import SiteAsk, Wanted, opened
from compute.exports.site.rendering import Drawn
from compute.exports.site.views import MADE, View, Views
from compute.reading.inputs import Inputs, papers
from compute.store.store import Store
from compute.views.data import select as data_select
from compute.views.page import Table
from compute.views.shared import next_steps

MANIFEST, MADE_WITH = "manifest.json", "Beirscope"
_STATIC = Path(__file__).parent / "static"
_FILES = {
    "scores.csv": "All scores (CSV)",
    MANIFEST: "About this site",
    "CITATION.txt": "How to cite it",
}
"""Files that the footer of every page links to, with their labels."""


def write(store: Store, folder: Path, wanted: Wanted) -> dict[str, Any]:
    """Write the site into a folder that is new, empty, or an earlier site; returns its manifest.
    Raises WrongInput for any other folder, and Missing for a dataset or measure without scores."""
    target = folder.resolve()
    with opened(store, wanted) as site, _in_place(target) as aside:
        made = _made(site)
        _views(site, aside, made)
        for name in ("site.js", "site.css"):
            shutil.copyfile(_STATIC / name, aside / name)
        (aside / "plotly.js").write_text(get_plotlyjs(), "utf-8")
        (aside / "scores.csv").write_bytes(tables.csv(Table("scores", "", _scores(site))))
        (aside / "CITATION.txt").write_text(made["citation"], "utf-8")
        files = sorted(str(file.relative_to(aside)) for file in _files(aside))
        made["files"] = [*files, MANIFEST]
        (aside / MANIFEST).write_text(f"{json.dumps(made, indent=1)}\n", "utf-8")
        usual(aside, *aside.rglob("*"))
    return made


@contextmanager
def _in_place(target: Path) -> Iterator[Path]:
    """Open a folder beside the target, which replaces the target after the with-block. Raises
    WrongInput for an unsuitable target."""
    target, told = target.resolve(), printable(str(target))
    if target.exists() and not target.is_dir():
        raise WrongInput(f"{told} is a file: name an empty or new folder")
    if not target.parent.is_dir():
        raise WrongInput(f"no folder {printable(str(target.parent))}: create it first")
    _check(target)
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        parent = printable(str(target.parent))
        raise WrongInput(f"{parent} cannot be written to ({error.strerror})") from error
    try:
        site = aside / "new"
        site.mkdir()
        yield site
        _check(target)
        _replace(target, site, aside / "old")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _replace(target: Path, site: Path, old: Path) -> None:
    """Move the site to the target; if that fails, restore the previous content."""
    if target.exists():
        target.rename(old)
    try:
        site.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def _check(target: Path) -> None:
    """Raise WrongInput if a folder contains anything that does not belong to one of our sites."""
    if not target.is_dir() or not any(target.iterdir()):
        return
    told, known = printable(str(target)), set[str]()
    try:
        record = json_files.parsed((target / MANIFEST).read_text("utf-8"))
        known = set(record["files"]) if record["made_with"] == MADE_WITH else set()
    except (OSError, ValueError, KeyError, TypeError):
        pass
    strange = sorted(str(file.relative_to(target)) for file in _files(target))
    strange = [name for name in strange if name not in known]
    if strange:
        first = printable(strange[0])
        raise WrongInput(
            f"{told} contains files that are not from a Beirscope site, such as {first}: name a"
            " folder that is empty, new, or such a site"
        )


def _files(folder: Path) -> Iterator[Path]:
    """Iterate over all files of a folder, and links."""
    return (file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())


def _views(site: SiteAsk, folder: Path, made: Mapping[str, Any]) -> None:
    """Write every view of every page, and the data of the browser's tools."""
    pages = dict(PAGES)
    pages |= {MADE: partial(composing.made, site)} if site.datasets else {}
    views = Views(site, pages, site.is_wanted)
    tools = _data(site, folder / "data", views)
    template = Template((_STATIC / "page.html").read_text("utf-8"))
    for view in views.every:
        drawn, root = Drawn(views, view, site.called), "../" * view.path.count("/")
        page = partial(composing.view, site, view, pages[view.page], tools)
        links = ((one, views.near(one, {})) for one in pages if one != MADE)
        words = {
            "root": root,
            "site": html.escape(site.wanted.title),
            "name": html.escape(" · ".join([view.title, *view.words])),
            "heading": html.escape(view.title),
            "links": "".join(_link(root, one, name == view.page) for name, one in links if one),
            "body": drawn.html(page, site),
            "foot": _foot(made, root),
        }
        _write(folder / view.path, template.substitute(words).encode())


def _link(root: str, view: View, here: bool) -> str:
    """Return a link of the navigation."""
    current = " aria-current=page" * here
    return f'<li><a href="{root}{view.path}"{current}>{html.escape(view.title)}</a></li>'


def _foot(made: Mapping[str, Any], root: str) -> str:
    """Return the footer."""
    by = f"Published by {made['by']}. " * bool(made["by"])
    words = (
        f"{by}Made with {MADE_WITH} {made['version']} on {made['made'][:10]} from version"
        f" {made['version_of_results']} of its results; {made['judgements']} judgements."
    )
    links = " · ".join(f'<a href="{root}{name}">{what}</a>' for name, what in _FILES.items())
    return f"<p>{html.escape(words)}</p><p>{links}</p>"


def _scores(site: SiteAsk) -> DataFrame:
    """Return all wanted computed means."""
    rows = site(data_select.scores_shown)
    rows = rows[rows["dataset"].isin([row.name for row in site.datasets])]
    rows = rows[rows["measure"].isin(site.scored_by)]
    return rows.assign(system=rows["system"].replace(site.called))


def _data(site: SiteAsk, folder: Path, views: Views) -> dict[Any, dict[str, Any]]:
    """Write all pieces; returns the data for each tool, by name, dataset and, for pairs,
    measure."""
    _put(folder, "looks", figures.looks())
    tools: dict[Any, dict[str, Any]] = {}
    for place, row in enumerate(site.datasets):
        own, scores = f"{place}-{slug(row.name)}", []
        names = [row.name, *row.parts]
        ways = [views.near("query", {"dataset": one}, ["dataset"]) for one in names]
        queries = {one: view.path for one, view in zip(names, ways, strict=True) if view}
        for measure in site.scored_by:
            if found := pieces.by_query(site, row, measure):
                piece = _put(folder, f"scores-{own}-{slug(measure)}", found)
                scores.append([measure, piece])
                given = {"piece": piece, "dataset": row.name, "queries": queries}
                tools["pairs", row.name, measure] = given
        if of := pieces.queries(site, row):
            given = {"piece": _put(folder, f"queries-{own}", of), "lists": f"lists-{own}"}
            for at, piece in enumerate(pieces.lists(site, row, of)):
                _put(folder, f"lists-{own}-{at}", piece)
            tools["lists", row.name] = given | {"scores": scores, "texts": site.with_texts(row)}
    return tools


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _put(folder: Path, name: str, content: Mapping[str, Any]) -> str:
    """Write a piece as a script, since browsers load no other local files; returns its name."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    _write(folder / f"{name}.js", f"beirscope.put({json.dumps(name)},{text});\n".encode())
    return name


def _made(site: SiteAsk) -> dict[str, Any]:
    """Return the manifest of the site: publisher, datasets, time and version."""
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    scored = frozenset(site.scored_by)
    made = {
        "made_with": MADE_WITH,
        "version": version,
        "title": site.wanted.title,
        "by": site.wanted.by,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version_of_results": site.manifest,
        "judgements": composing.judgements(site),
        "measures": composing.recorded(site, Inputs(measures=scored))["measures"],
        "datasets": [row.name for row in site.datasets],
        "left_out": list(_without_texts(site)),
        "in_print": papers(site.store.parts("printed")),
    }
    return made | {"citation": _citation(made)}


def _without_texts(site: SiteAsk) -> Iterator[str]:
    """Yield a sentence for each dataset whose requested texts are not on the site."""
    for row in site.datasets if site.wanted.texts else ():
        if not row.may_hand_on_texts:
            yield (
                f"{row.name}: its texts are not on the site, since its licence ({row.licence})"
                " is not known to allow redistribution"
            )
        elif not site.with_texts(row) and not row.parts:
            yield f"{row.name}: {next_steps.without_texts(row)}"


def _citation(made: Mapping[str, Any]) -> str:
    """Return the citation of the site and of Beirscope."""
    who, day = made["by"] or "(publisher)", made["made"][:10]
    cited = sorted(set(made["in_print"].values()))
    return "\n".join(
        (
            f"{who}: {made['title']}. Results of {day}, version {made['version_of_results']},"
            f" {made['judgements']} judgements.",
            f"Made with Beirscope {made['version']}, by the Beirscope authors.",
            "",
            "Published figures are from:",
            *(f"- {paper}" for paper in cited),
            "",
        )
    )

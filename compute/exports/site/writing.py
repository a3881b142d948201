"""A site as a folder: written aside as a whole, then moved to its place."""

import html
import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from compute.base import json_files
from compute.base.errors import WrongInput
from compute.base.permissions import usual
from compute.base.printable import printable
from compute.base.settings import PROJECT
from compute.datasets import published
from compute.exports import tables
from compute.exports.pages import PAGES as PAGES_OF
from compute.exports.site import boards, figures, lists, results
from compute.exports.site.asking import SiteAsk
from compute.exports.site.rendering import Drawn
from compute.exports.site.shown import Shown, Wanted, opened
from compute.exports.site.views import SHOWN, Views
from compute.judgements import RULES
from compute.reading.inputs import Inputs
from compute.store.store import Store
from compute.views.about import tables as about_tables
from compute.views.about import view_provenance
from compute.views.data import select as data_select
from compute.views.shared import next_steps

PAGES = {"index": "Leaderboard", "dataset": "Dataset", "compare": "Compare", "query": "Query"}
MANIFEST, MADE_WITH = "manifest.json", "Beirscope"
_STATIC = Path(__file__).parent / "static"


def write(store: Store, folder: Path, wanted: Wanted) -> dict[str, Any]:
    """Write the site into a folder that is new, empty, or such a site; returns its manifest.

    Raises WrongInput for another folder or a title that is no text, Missing for a dataset or
    measure without scores.
    """
    target = folder.resolve()
    try:
        f"{wanted.title}{wanted.by}".encode()
    except UnicodeEncodeError as error:
        raise WrongInput("--title or --by is not UTF-8: write it in UTF-8") from error
    with opened(store, wanted) as shown:
        if not shown.datasets and wanted.datasets:
            raise WrongInput("none of these datasets has scores: name others")
        with _in_place(target) as aside:
            made = _made(shown)
            _static(aside, wanted.title, made, _views(shown, aside, made))
            _data(shown, aside / "data", made)
            rows = data_select.scores_shown(shown.cursor)
            wanted_rows = rows["dataset"].isin([row.name for row in shown.datasets])
            rows = rows[wanted_rows & rows["measure"].isin(shown.measures)]
            rows = rows.assign(system=rows["system"].map(shown.called))
            (aside / "scores.csv").write_bytes(tables.csv(tables.Table("scores", "", rows)))
            (aside / "CITATION.txt").write_text(made["citation"], "utf-8")
            files = sorted(str(file.relative_to(aside)) for file in _files(aside))
            made["files"] = [*files, MANIFEST]
            (aside / MANIFEST).write_text(f"{json.dumps(made, indent=1)}\n", "utf-8")
            usual(aside, *aside.rglob("*"))
    return made


@contextmanager
def _in_place(target: Path) -> Iterator[Path]:
    """A folder beside the target, which takes its place once it is whole. Raises WrongInput."""
    target, told = target.resolve(), printable(str(target))
    if target.exists() and not target.is_dir():
        raise WrongInput(f"{told} is a file: name a folder that is empty or not there yet")
    if not target.parent.is_dir():
        raise WrongInput(f"no folder {printable(str(target.parent))}: make it first")
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
    """Put the site in the target's place; what stood there comes back where that fails."""
    if target.exists():
        target.rename(old)
    try:
        site.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def _check(target: Path) -> None:
    """Raise WrongInput where a folder holds anything that no site of ours put there."""
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
            f"{told} holds files that no site of Beirscope has, such as {first}: name a folder that"
            " is empty, new, or such a site"
        )


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())


def _static(folder: Path, title: str, made: Mapping[str, Any], views: Views) -> None:
    """The pages, our script and style, and Plotly's."""
    page = Template((_STATIC / "page.html").read_text("utf-8"))
    for name, heading in PAGES.items():
        links = _links(views, name, "")
        words = {"site": html.escape(title), "heading": heading, "page": name, "links": links}
        (folder / f"{name}.html").write_text(page.substitute(words), "utf-8")
    for name in ("site.js", "page.js", "site.css"):
        shutil.copyfile(_STATIC / name, folder / name)
    (folder / "plotly.js").write_text(get_plotlyjs(), "utf-8")


def _links(views: Views, page: str, root: str) -> str:
    """Links to the pages, in a view of one of them."""
    firsts = {name: views.first(name) for name in SHOWN}
    ways = [(name, f"{name}.html", words) for name, words in PAGES.items()]
    ways += [(name, one.path, SHOWN[name].title) for name, one in firsts.items() if one]
    return "".join(
        f'<li><a href="{root}{path}"{" aria-current=page" * (name == page)}>{words}</a></li>'
        for name, path, words in ways
    )


def _views(shown: Shown, folder: Path, made: Mapping[str, Any]) -> Views:
    """Write every view of pages that are records."""
    template = Template((_STATIC / "view.html").read_text("utf-8"))
    ask = SiteAsk(shown.own, shown)
    views = Views(ask, {name: PAGES_OF[name] for name in SHOWN}, shown.is_wanted)
    for view in views.every:
        drawn, root = Drawn(views, view), "../" * view.path.count("/")
        title = SHOWN[view.page].title
        words = {
            "root": root,
            "site": html.escape(shown.wanted.title),
            "name": html.escape(" · ".join([title, *view.words])),
            "heading": title,
            "links": _links(views, view.page, root),
            "body": drawn.html(PAGES_OF[view.page], ask),
            "foot": _foot(made, root),
        }
        _write(folder / view.path, template.substitute(words).encode())
        for path, content in drawn.files.items():
            _write(folder / path, content)
    return views


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _foot(made: Mapping[str, Any], root: str) -> str:
    by = f"Published by {made['by']}. " * bool(made["by"])
    words = (
        f"{by}Made with {MADE_WITH} {made['version']} on {made['made'][:10]} from version"
        f" {made['version_of_results']} of its results; {made['judgements']} judgements."
    )
    files = {
        "scores.csv": "All scores (CSV)",
        MANIFEST: "What this site is made of",
        "CITATION.txt": "How to cite it",
    }
    links = " · ".join(f'<a href="{root}{name}">{what}</a>' for name, what in files.items())
    return f"<p>{html.escape(words)}</p><p>{links}</p>"


def _data(shown: Shown, folder: Path, made: Mapping[str, Any]) -> None:
    """All pieces of data; `site` is read by every page, and says which others there are."""
    folder.mkdir()
    _put(folder, "looks", figures.looks())
    listed = [
        _put(folder, f"board-{place}", content) | of._asdict()
        for place, (of, content) in enumerate(boards.boards(shown))
    ]
    systems = dict(zip(shown.systems["called"], shown.systems["title"], strict=True))
    every = (_dataset(shown, folder, place) for place in range(len(shown.datasets)))
    sets = [one for one in every if one["measures"]]
    named = {name for one in sets for name in one["systems"]}
    site = {
        "made": {name: made[name] for name in made if name != "files"},
        "looks": figures.looks(),
        "boards": listed,
        "datasets": sets,
        # Names from outside are no keys: a script takes `__proto__` for something else.
        "systems": [[name, title] for name, title in systems.items() if name in named],
    }
    _put(folder, "site", site)


def _dataset(shown: Shown, folder: Path, place: int) -> dict[str, Any]:
    """Write the pieces of a dataset; what of it pages choose from."""
    row, measures, systems = shown.datasets[place], [], dict[str, None]()
    for at, measure in enumerate(shown.measures):
        standing = results.standing(shown, row, measure)
        scores = results.by_query(shown, row, measure)
        if standing is None or scores is None:
            continue
        measures.append({"measure": measure, "piece": f"{place}-{at}"})
        systems |= dict.fromkeys(one["system"] for one in standing["rows"])
        _put(folder, f"dataset-{place}-{at}", standing)
        _put(folder, f"scores-{place}-{at}", scores)
    queries = lists.queries(shown, row)
    if queries is not None:
        _put(folder, f"queries-{place}", queries)
        for at, piece in enumerate(lists.pieces(shown, row, queries)):
            _put(folder, f"lists-{place}-{at}", piece)
    _put(folder, f"made-{place}", _behind(shown, place))
    facts = ("name", "title", "task", "domain", "licence", "homepage", "language", "split", "note")
    return {name: getattr(row, name) for name in facts} | {
        "place": place,
        "measures": measures,
        "systems": list(systems),
        "lists": queries is not None,
        "texts": shown.with_texts(row),
    }


def _behind(shown: Shown, place: int) -> dict[str, Any]:
    """How the numbers of a dataset were made, as the pages tell it."""
    row = shown.datasets[place]
    pairs = {
        (part, system)
        for part in row.parts or (row.name,)
        for kind, dataset, system in shown.opened.parts
        if kind == "scores" and dataset == part
    }
    behind = Inputs(frozenset(pairs), frozenset(row.parts or (row.name,)))
    record = _record(shown, behind)
    return {
        "runs": _columns(about_tables.runs_table(record["runs"])),
        "collections": _columns(about_tables.collections_table(record["collections"])),
        "shell": view_provenance.as_shell(record),
        "record": record,
    }


def _record(shown: Shown, behind: Inputs) -> dict[str, Any]:
    version = shown.opened.version, shown.store.judgement_version()
    return view_provenance.record(shown.store, behind, version=version, choice=shown.wanted.choice)


def _columns(table: Any) -> dict[str, Any]:
    text = table.astype(object).where(table.notna(), "")
    return {"columns": list(table), "rows": [[str(one) for one in row] for row in text.to_numpy()]}


def _made(shown: Shown) -> dict[str, Any]:
    """Who made the site of what, when, with which version."""
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    printed = published.results()[["source", "paper"]].drop_duplicates("source")
    made = {
        "made_with": MADE_WITH,
        "version": version,
        "title": shown.wanted.title,
        "by": shown.wanted.by,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version_of_results": shown.opened.version,
        "judgements": _judgements(shown),
        "measures": _record(shown, Inputs(measures=frozenset(shown.measures)))["measures"],
        "datasets": [row.name for row in shown.datasets],
        "left_out": list(_without_texts(shown)),
        "in_print": dict(zip(printed["source"], printed["paper"], strict=True)),
    }
    return made | {"citation": _citation(made)}


def _without_texts(shown: Shown) -> Iterator[str]:
    """A sentence for each dataset whose texts were asked for and are not on the site."""
    for row in shown.datasets if shown.wanted.texts else ():
        if not row.may_hand_on_texts:
            yield (
                f"{row.name}: its texts are not on the site, its licence ({row.licence}) is not"
                " known to let them be handed on"
            )
        elif not shown.with_texts(row) and not row.parts:
            yield f"{row.name}: {next_steps.without_texts(row)}"


def _judgements(shown: Shown) -> str:
    choice = shown.wanted.choice
    if choice is None:
        return "official"
    several = RULES[choice.rule].text
    return f"official + added by {', '.join(choice.sources)}; of several for a pair {several}"


def _citation(made: Mapping[str, Any]) -> str:
    """How to cite the board, and what made it."""
    who, day = made["by"] or "(who publishes it)", made["made"][:10]
    papers = sorted(set(made["in_print"].values()))
    return "\n".join(
        (
            f"{who}: {made['title']}. Results of {day}, version {made['version_of_results']},"
            f" {made['judgements']} judgements.",
            f"Made with Beirscope {made['version']}, by the Beirscope authors.",
            "",
            "Figures in print are of:",
            *(f"- {paper}" for paper in papers),
            "",
        )
    )


def _put(folder: Path, name: str, content: Mapping[str, Any]) -> dict[str, str]:
    """Write a piece as a script: a browser opens no local file of another kind."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (folder / f"{name}.js").write_text(f"beirscope.put({json.dumps(name)},{text});\n", "utf-8")
    return {"piece": name}

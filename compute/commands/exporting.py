"""Export commands, which write files without a browser: export figure|table|view|run|…"""

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from compute.base import printable, settings
from compute.base.errors import WrongInput
from compute.base.permissions import usual
from compute.base.words import near
from compute.commands import options
from compute.commands.common import scored_by
from compute.commands.opening import open_bench, open_whole
from compute.evaluate import scored_measures
from compute.exports import all_figures, fonts, named, pages, runs
from compute.exports.formats import ONE, PICTURES, TWO, WIDTHS, Paper, check
from compute.judgements import Choice
from compute.store.store import Store

_EXPORTS = "figures: {}; tables: {}".format(", ".join(named.FIGURES), ", ".join(named.TABLES))
Out = Annotated[
    Path,
    options.OF_FILE,
    Parameter(
        help="the ending sets the format: .svg .png .pdf .html; .csv .parquet .tex .md; .zip for a"
        " view; .gz and .zst compress a run"
    ),
]
Counts = Annotated[
    str,
    Parameter(
        choices=(options.OFFICIAL, options.ADDED), help="judgement set to use, as on the pages"
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class View:
    """Values of a page's pickers."""

    address: str = ""
    """Page address copied from a browser; exports the same view."""
    dataset: options.OnlyDataset = ""
    measure: options.OnlyMeasure = ""
    judgements: Counts = ""
    set: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="KEY=VALUE")] = ()
    """Values of other pickers, by their keys in the address."""

    def given(self) -> tuple[str, dict[str, list[str]], dict[str, list[str]]]:
        """Return the address's page and values, and the options' values, which take precedence."""
        page, in_address = named.address(self.address) if self.address else ("", {})
        options = {"measure": [self.measure]} if self.measure else {}
        if self.judgements:
            in_address.pop("judgements", None)
            options |= _counted(self.judgements)
        return page, in_address, options | named.settings(self.set)


@Parameter(name="*")
@dataclass(frozen=True)
class OnPaper:
    """Width, font and title of a figure."""

    width: Annotated[str, Parameter(choices=tuple(WIDTHS), show_default=True)] = TWO
    """Width in mm, for one column or two, or as on the page."""
    narrow: bool = False
    """Same as --width 84."""
    font: Annotated[str, Parameter(choices=tuple(fonts.FAMILIES), show_default=True)] = "page"
    """The page's font, or a serif font as in papers."""
    no_title: bool = False
    """Omit the title, for a paper with its own caption."""

    def paper(self) -> Paper:
        """Return these options as the drawing code expects them."""
        return Paper(ONE if self.narrow else self.width, self.font, not self.no_title)


def figure(
    name: Annotated[str, Parameter(help=", ".join(named.FIGURES))] = "",
    /,
    *,
    out: Out,
    view: View = View(),
    paper: OnPaper = OnPaper(),
) -> int:
    """Write a figure of a page to a file."""
    return _write("figure", name, out, view, paper.paper())


def table(
    name: Annotated[str, Parameter(help=", ".join(named.TABLES))] = "",
    /,
    *,
    out: Out,
    view: View = View(),
) -> int:
    """Write a table of a page to a file."""
    return _write("table", name, out, view, Paper())


def view(page: str = "", /, *, out: Out, view: View = View()) -> int:
    """Write a zip of a page's figures, tables, data and provenance.

    Args:
        page: leaderboard (default), dataset, compare, …
    """
    check("view", _form(out))
    there, given, options = view.given()
    page = page or there or "leaderboard"
    if view.dataset:
        likely = named.FIGURES["order" if page == "leaderboard" else "standing"]
        given |= named.of_dataset(page, likely, view.dataset)
    return _put(out, lambda store: pages.archive(store, page, given | options), given | options)


def run(
    *,
    dataset: options.Dataset,
    system: str,
    out: Out,
    format: Annotated[
        str, Parameter(choices=("trec", "beir", "mteb", "golden"), show_default=True)
    ] = "trec",
) -> int:
    """Write a stored run to a TREC or JSON file.

    Args:
        system: such as bm25
    """
    written = runs.export_run(Store(settings.load()), dataset, system, out, format)
    usual(out)
    printable.say(str(written))
    return 0


def figures(
    *,
    all: options.Folder,
    dataset: options.OnlyDataset = "",
    measure: options.OnlyMeasure = "",
    judgements: Counts = "",
    format: Annotated[str, Parameter(choices=PICTURES, show_default=True)] = "pdf",
    paper: OnPaper = OnPaper(),
) -> int:
    """Write every figure that can be drawn to a folder, with captions.tex.

    Args:
        all: a folder, empty or new
    """
    stored = sorted({part.dataset for part in Store(settings.load()).parts("hits")})
    if dataset and dataset not in stored:
        near_by = near(dataset, stored)
        raise WrongInput(f"no run is stored for {dataset!r}; {near_by}known: {', '.join(stored)}")
    folder = all.absolute()
    _make_empty(folder)
    asked = all_figures.views([dataset] if dataset else stored, measure)
    views = [_counting(one, judgements) for one in asked]
    failed = all_figures.write(open_whole().store, views, folder, format, paper.paper())
    usual(folder, *folder.iterdir())
    printable.say(f"wrote {folder}")
    return int(failed > 0)


def site(
    folder: options.Folder,
    /,
    *,
    dataset: Annotated[tuple[str, ...], options.SEVERAL] = (),
    measure: Annotated[tuple[str, ...], options.SEVERAL] = (),
    judgements: Counts = "",
    title: Annotated[str, Parameter(show_default=True)] = "Retrieval results",
    by: Annotated[str, Parameter(metavar="NAME")] = "",
    texts: bool = False,
) -> int:
    """Write static pages to a folder, ready to publish.

    Args:
        dataset: only these datasets
        measure: only these measures
        by: name of the publisher
        texts: include documents and queries of datasets whose licences allow it
    """
    bench = open_whole()
    for one in measure:
        lacking = [line for name in dataset or ("",) for line in scored_by(bench, one, name)]
        printable.warn(*lacking)
    choice = Choice() if judgements == options.ADDED else None
    # Only this command needs it, and it takes half a second to import.
    from compute.exports import site as site_export

    wanted = site_export.Wanted(title, by, dataset, measure, texts, choice)
    made = site_export.write(bench.store, folder, wanted)
    printable.warn(*made["left_out"])
    printable.say(f"wrote {folder.absolute()}")
    return 0


def _form(out: Path) -> str:
    """Return the file's extension. Raises WrongInput if its folder does not exist."""
    if not out.parent.is_dir():
        raise WrongInput(f"there is no folder {out.parent}: create it first")
    return out.suffix.removeprefix(".")


def _write(kind: str, name: str, out: Path, view: View, paper: Paper) -> int:
    """Write a figure or table to the file `out`. Raises WrongInput for an unknown name."""
    form = check(kind, _form(out))
    if not name:
        raise WrongInput(f"name one: {_EXPORTS}")
    page, given, options = view.given()
    found = named.named(kind, name)
    if page and page != found.page:
        raise WrongInput(f"{name} is on the page {found.page}, but the address names {page}")
    if view.dataset:
        given |= named.of_dataset(name, found, view.dataset)
    shown = {key: [value] for key, value in found.given.items()} | given | options
    where = found.page, found.key, shown, form, paper
    return _put(out, lambda store: pages.write(store, *where), shown)


def _put(out: Path, content: Callable[[Store], bytes], given: dict[str, list[str]]) -> int:
    _score(given)
    all_figures.put(out.absolute(), content(open_whole().store))
    usual(out)
    printable.say(f"wrote {out.absolute()}")
    return 0


def _counted(judgements: str) -> dict[str, list[str]]:
    """Return the value of the pages' judgement picker, if it differs from the default."""
    return {"judgements": [options.ADDED]} if judgements == options.ADDED else {}


def _counting(view: named.Address, judgements: str) -> named.Address:
    page, given = view
    # Corpus similarity does not depend on judgements, so its page has no judgement picker.
    rests = page != "overlap" or given.get("view") == ["Domain shift"]
    return page, given | (_counted(judgements) if rests else {})


def _make_empty(folder: Path) -> None:
    """Create an output folder. Raises WrongInput if the path is a file or a folder with content."""
    told = printable.printable(str(folder))
    if folder.exists() and not folder.is_dir():
        raise WrongInput(f"{told} is a file: give an empty or new folder")
    if not folder.parent.is_dir():
        raise WrongInput(f"no folder {printable.printable(str(folder.parent))}: create it first")
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise WrongInput(f"{told} already contains files: give an empty or new folder")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WrongInput(
            f"{told} cannot be written to ({error.strerror}): choose another folder"
        ) from error


def _score(given: dict[str, list[str]]) -> None:
    """Score the runs that lack the shown measure, since pages do not compute scores."""
    with contextlib.suppress(WrongInput):  # only published, or unknown: the page says so
        for measure in scored_measures.more(given.get("measure", ())):
            dataset, *_ = *given.get("dataset", ()), *given.get("over", ()), ""
            lacking = scored_by(open_bench(), measure, dataset)
            printable.warn(*lacking)

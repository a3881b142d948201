"""The command that writes figures, tables, views and runs to files, without a browser window."""

import contextlib
import tempfile
from argparse import Namespace
from pathlib import Path

from compute.base import printable, settings
from compute.base.errors import WrongInput
from compute.base.permissions import usual
from compute.base.words import near
from compute.commands.choices import ADDED, EXPORTS, RUN_FORMATS
from compute.commands.common import scored_by
from compute.commands.opening import open_bench, open_whole
from compute.evaluate import scored_measures
from compute.exports import all_figures, named, pages, runs, site
from compute.exports.formats import Paper, check
from compute.judgements import Choice
from compute.store.store import Store

_SEVERAL = ("dataset", "measure")
"""Options of which a site takes several names."""


def export(arguments: Namespace) -> int:
    """Write a figure, a table, a whole view, a run or a site. Raises WrongInput."""
    if arguments.what == "site":
        return _site(arguments)
    _one_each(arguments)
    if arguments.what == "figures":
        return _all(arguments)
    if arguments.out is None:
        raise WrongInput(f"export {arguments.what} needs --out FILE: where to?")
    file: Path = arguments.out
    if arguments.what == "run":
        if arguments.judgements:
            raise WrongInput("a run has no judgements: leave out --judgements")
        return _run(arguments)
    if not file.parent.is_dir():
        raise WrongInput(f"no folder {file.parent}: make it first")
    check(arguments.what, file.suffix.removeprefix("."))
    page, key, given = _wanted(arguments)
    _score(given)
    store = open_whole().store
    if arguments.what == "view":
        content = pages.archive(store, page, given)
    else:
        form = file.suffix.removeprefix(".")
        content = pages.write(store, page, key, given, form, _paper(arguments))
    all_figures.put(file.absolute(), content)
    usual(file)
    printable.say(f"wrote {file.absolute()}")
    return 0


def _paper(arguments: Namespace) -> Paper:
    return Paper(arguments.width, arguments.font, not arguments.untitled)


def _one_each(arguments: Namespace) -> None:
    """Make one name of what a site may have several of. Raises WrongInput for several."""
    for option in _SEVERAL:
        first, *more = getattr(arguments, option)
        if len(more) == 1 and not arguments.name:
            # An option that takes several names takes the name that stands after it, too.
            arguments.name = more.pop()
        if more:
            raise WrongInput(f"--{option} takes one name here, for all but a site")
        setattr(arguments, option, first)
    if arguments.texts or arguments.by:
        raise WrongInput("--texts and --by are for a site: leave them out here")


def _site(arguments: Namespace) -> int:
    """The static pages, into a folder."""
    if not arguments.name:
        raise WrongInput("export site needs a folder: export site DIR")
    if arguments.out or arguments.address or arguments.set or arguments.system:
        raise WrongInput("export site takes a folder, --dataset, --measure and what --help says")
    bench = open_whole()
    datasets, measures = (tuple(filter(None, getattr(arguments, one))) for one in _SEVERAL)
    for measure in measures:
        lacking = [line for name in datasets or ("",) for line in scored_by(bench, measure, name)]
        printable.warn(*lacking)
    choice = Choice() if arguments.judgements == ADDED else None
    wanted = site.Wanted(arguments.title, arguments.by, datasets, measures, arguments.texts, choice)
    made = site.write(bench.store, Path(arguments.name), wanted)
    printable.warn(*made["left_out"])
    printable.say(f"wrote {printable.printable(str(Path(arguments.name).absolute()))}")
    return 0


def _all(arguments: Namespace) -> int:
    """Every figure that can be drawn of what is stored, and a file of captions, into a folder."""
    if arguments.all is None:
        raise WrongInput("export figures needs --all DIR: where to?")
    if arguments.format in RUN_FORMATS:
        raise WrongInput(f"--format {arguments.format} is for a run: figures are pdf, svg or png")
    stored = sorted({part.dataset for part in Store(settings.load()).parts("hits")})
    if arguments.dataset and arguments.dataset not in stored:
        near_by = near(arguments.dataset, stored)
        raise WrongInput(
            f"no run is stored on {arguments.dataset!r}; {near_by}known: {', '.join(stored)}"
        )
    folder: Path = arguments.all.absolute()
    _make_empty(folder)
    datasets = [arguments.dataset] if arguments.dataset else stored
    views = [_counting(view, arguments) for view in all_figures.views(datasets, arguments.measure)]
    store = open_whole().store
    failed = all_figures.write(store, views, folder, arguments.format, _paper(arguments))
    usual(folder, *folder.iterdir())
    printable.say(f"wrote {folder}")
    return int(failed > 0)


def _counted(arguments: Namespace) -> dict[str, list[str]]:
    """What the switch above pages shows; it is there where judgements were added, on official."""
    return {"judgements": [ADDED]} if arguments.judgements == ADDED else {}


def _counting(view: named.Address, arguments: Namespace) -> named.Address:
    page, given = view
    # How alike collections are rests on no judgement, and has no switch.
    rests = page != "overlap" or given.get("view") == ["Domain shift"]
    return page, given | (_counted(arguments) if rests else {})


def _make_empty(folder: Path) -> None:
    """Make a folder to write to. Raises WrongInput for one that holds something, or is none."""
    told = printable.printable(str(folder))
    if folder.exists() and not folder.is_dir():
        raise WrongInput(f"{told} is a file: name a folder that is empty or not there yet")
    if not folder.parent.is_dir():
        raise WrongInput(f"no folder {printable.printable(str(folder.parent))}: make it first")
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise WrongInput(f"{told} holds files already: name a folder that is empty or new")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WrongInput(
            f"{told} cannot be written to ({error.strerror}): name another folder"
        ) from error


def _score(given: dict[str, list[str]]) -> None:
    """Score the runs that lack the measure that is to be shown, which pages do not."""
    with contextlib.suppress(WrongInput):  # in print alone, or unknown: the page says so
        for measure in scored_measures.more(given.get("measure", ())):
            dataset, *_ = *given.get("dataset", ()), *given.get("over", ()), ""
            lacking = scored_by(open_bench(), measure, dataset)
            printable.warn(*lacking)


def _wanted(arguments: Namespace) -> tuple[str, str, dict[str, list[str]]]:
    """The page, what of it, and what its pickers show; options go before the address."""
    page, in_address = named.address(arguments.address) if arguments.address else ("", {})
    options = {"measure": [arguments.measure]} if arguments.measure else {}
    if arguments.judgements:
        in_address.pop("judgements", None)
        options |= _counted(arguments)
    options |= named.settings(arguments.set)
    if arguments.what == "view":
        shown = arguments.name or page or "leaderboard"
        if arguments.dataset:
            likely = named.FIGURES["order" if shown == "leaderboard" else "standing"]
            in_address |= named.of_dataset(shown, likely, arguments.dataset)
        return shown, "", in_address | options
    if not arguments.name:
        raise WrongInput(f"name one: {EXPORTS}")
    found = named.named(arguments.what, arguments.name)
    if page and page != found.page:
        raise WrongInput(
            f"{arguments.name} is on the page {found.page}, and the address names {page}"
        )
    fixed = {name: [value] for name, value in found.given.items()}
    if arguments.dataset:
        in_address |= named.of_dataset(arguments.name, found, arguments.dataset)
    return found.page, found.key, fixed | in_address | options


def _run(arguments: Namespace) -> int:
    """A stored run as a file, TREC's or JSON."""
    if not (arguments.dataset and arguments.system):
        raise WrongInput("export run needs --dataset and --system: which run?")
    store = Store(settings.load())
    form = arguments.format if arguments.format in RUN_FORMATS else "trec"
    written = runs.export_run(store, arguments.dataset, arguments.system, arguments.out, form)
    usual(arguments.out)
    printable.say(str(written))
    return 0

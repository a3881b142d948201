"""The command line: `python -m compute …`, one row per command."""

import argparse
import contextlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from compute import commands
from compute.base import bug_reports, disk_refusals, permissions, printable, redaction, settings
from compute.base.errors import BeirscopeError
from compute.commands.choices import (
    ADDED,
    EXPORTED,
    EXPORTS,
    FORMATS,
    HUMAN,
    KINDS,
    OFFICIAL,
    RULES,
    SHOWN,
    SOURCES,
)
from compute.exports.fonts import FAMILIES
from compute.exports.formats import ONE, PICTURES, TWO, WIDTHS

Option = tuple[tuple[str, ...], dict[str, object]]


def _option(*names: str, **kind: object) -> Option:
    return names, kind


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _difference(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("it must be above 0")
    return number


SYSTEM = _option(
    "system",
    metavar="SYSTEM",
    help="bm25, or with parameters 'bm25(k1=1.2,b=0.75)'; `systems` lists those that run here",
)
EXAMPLES = "scifact, nfcorpus/train, or an own one's name; `datasets` lists all"
JSON = _option("--json", action="store_true", help="print JSON instead of a table")
JOB_NAMES = f"what to start ({', '.join(KINDS)}), or job ids"
DATASET = _option("dataset", metavar="DATASET", help=EXAMPLES)
ON_DATASETS = _option("datasets", nargs="+", metavar="DATASET", help=EXAMPLES)
OF_DATASET = _option("--dataset", required=True, metavar="DATASET", help=EXAMPLES)
DATASETS = _option("datasets", nargs="*", metavar="DATASET", help="all that have a run, if none")
COLLECTIONS = _option(
    "datasets", nargs="*", metavar="DATASET", help="all whose documents are stored, if none"
)
AGAIN = _option("--again", action="store_true", help="recompute even what is up to date")
YES = _option("--yes", action="store_true", help="do it, not only say what goes")
AS_BEIR = _option(
    "--drop-equal-ids",
    action="store_true",
    help="as BEIR's code: drop documents whose id equals the query's on every dataset",
)
COUNTED = (
    _option("--rule", choices=RULES, default="majority", help="one grade of several"),
    _option("--source", nargs="+", choices=SOURCES, default=HUMAN, help="which count"),
)
"""Which added judgements count."""


class Command(NamedTuple):
    """A command: what it does, its options, and the function that does it."""

    text: str
    does: str
    """Module and function, as `commands.named` takes them."""
    options: tuple[Option, ...] = ()

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit status."""
        return commands.named(self.does)(arguments)


COMMANDS = {
    "datasets": Command(
        "every dataset and what is stored of it",
        "listing.datasets",
        (_option("--stored", action="store_true", help="only those that are stored here"), JSON),
    ),
    "systems": Command(
        "every system, what it was verified against and whether it runs here",
        "systems.show_systems",
        (JSON,),
    ),
    "check": Command(
        "report what is in BEIR folders or archives, run or qrels files, or in the store",
        "checking.check",
        (
            _option("paths", nargs="*", type=Path, metavar="PATH", help="a file or a folder"),
            _option("--store", action="store_true", help="all that is stored; status 2 if damaged"),
            _option("--dataset", help="hold runs and qrels against this one's ids"),
            JSON,
        ),
    ),
    "run": Command(
        "load, index, search, score and publish a system on datasets",
        "recomputing.run",
        (SYSTEM, ON_DATASETS, AGAIN, AS_BEIR),
    ),
    "train": Command(
        "train a system that is a recipe (genq, ict-herbert, bm25-augmented) on a dataset",
        "recomputing.train",
        (
            _option("system", metavar="SYSTEM", help="such as genq, or 'genq(epochs=2)'"),
            DATASET,
            _option(
                "--set",
                nargs="+",
                action="extend",
                default=[],
                metavar="NAME=VALUE",
                help="parameters of the recipe; `systems --json` lists them",
            ),
            AGAIN,
        ),
    ),
    "fetch": Command(
        "fetch the archives of datasets; without a dataset, list those that there are",
        "fetching.fetch",
        (
            _option(
                "datasets",
                nargs="*",
                metavar="DATASET",
                help="scifact, scifact-pl, or irds:NAME of the package ir_datasets",
            ),
            _option("--name", default="", help="what to call a dataset of ir_datasets"),
            _option("--again", action="store_true", help="fetch even what is here"),
            JSON,
        ),
    ),
    "import-dataset": Command(
        "take in an own collection: a BEIR folder or archive, or judgements alone",
        "importing.import_dataset",
        (
            _option("path", type=Path, nargs="?", help="a BEIR folder or archive"),
            _option("--qrels", type=Path, help="judgements alone, where documents cannot be had"),
            _option(
                "--queries",
                type=Path,
                help="with --qrels: TREC topics, queries.jsonl, or id<TAB>text",
            ),
            _option("--name", required=True, help="what to call it; mine/dev is split dev of mine"),
            _option(
                "--split", default="", help="the split to score (default: test, or the only one)"
            ),
            _option("--language", default="en", choices=("en", "pl")),
            _option("--drop-self", action="store_true", help="drop a query's own document"),
        ),
    ),
    "add-texts": Command(
        "give a dataset that is stored by its ids its texts; no run is computed again",
        "importing.add_texts",
        (
            DATASET,
            _option(
                "path",
                type=Path,
                nargs="?",
                help="a BEIR folder or archive (default: where the dataset is read from)",
            ),
        ),
    ),
    "import-run": Command(
        "take in TREC run files as systems of a dataset",
        "importing.import_run",
        (
            _option("files", nargs="+", type=Path, metavar="FILE"),
            OF_DATASET,
            _option("--system", help="its name (default: the run's own tag)"),
            _option(
                "--replace", action="store_true", help="put it in the place of a run of its name"
            ),
            AS_BEIR,
        ),
    ),
    "import-labels": Command(
        "take in what kinds of queries a dataset has, to see scores by them",
        "importing.import_labels",
        (
            _option("file", type=Path, help="TSV: query_id, key, value; or BEIR's queries.jsonl"),
            _option("--dataset", required=True, metavar="DATASET", help=EXAMPLES),
            _option("--replace", action="store_true", help="in the place of labels of its keys"),
        ),
    ),
    "import-grades": Command(
        "take in what a machine graded, apart from all judgements",
        "importing.import_grades",
        (
            _option(
                "file",
                type=Path,
                nargs="?",
                help="CSV with query_id, doc_id and grade; qrels; umbrela's JSONL",
            ),
            _option("--dataset", required=True, metavar="DATASET", help=EXAMPLES),
            _option("--machine", required=True, metavar="NAME", help="what to call the machine"),
            _option("--run", default="", metavar="SYSTEM", help="in a file's place: its scores"),
            _option(
                "--thresholds",
                nargs="+",
                type=float,
                default=(),
                metavar="SCORE",
                help="of a run: the score from which on a pair has grade 1, then grade 2, …",
            ),
            _option(
                "--quantiles",
                nargs="+",
                type=float,
                default=(),
                metavar="SHARE",
                help="of a run: the same as shares of its hits, such as 0.8 0.95",
            ),
            _option("--replace", action="store_true", help="put them in the place of its others"),
        ),
    ),
    "judge": Command(
        "have a machine judge documents; without limits only say what that would take",
        "machine_judging.judge",
        (
            DATASET,
            _option("--machine", default="", metavar="NAME", help="what to call the machine"),
            _option("--task", default="", metavar="ID", help="the documents of a judging task"),
            _option(
                "--systems",
                nargs="+",
                default=(),
                metavar="SYSTEM",
                help="in a task's place: what is unjudged at the top of these stored runs",
            ),
            _option("--depth", type=_count, default=10, help="how much of their top (default: 10)"),
            _option("--guideline", type=Path, metavar="FILE", help="with --systems: plain text"),
            _option("--requests", type=_count, default=0, help="the most that may be made"),
            _option("--tokens", type=_count, default=0, help="the most that may be spent"),
            _option(
                "--allow-texts-to",
                default="",
                metavar="ADDRESS",
                help="let texts of the dataset go to this server, from now on",
            ),
            _option("--forbid-texts", action="store_true", help="let them go nowhere any more"),
            _option("--again", action="store_true", help="ask anew where no grade came"),
            _option("--queue", action="store_true", help="as a job, which a worker does"),
        ),
    ),
    "remove": Command(
        "take away a dataset with its runs, or one run; added judgements stay",
        "importing.remove",
        (
            _option("dataset", metavar="DATASET", help="as `datasets` lists it"),
            _option("--system", default="", help="only this one's run on it"),
            _option("--machine", default="", help="only the grades of this one on it"),
            YES,
        ),
    ),
    "adopt": Command(
        "have the state at hand take over a home whose own state is lost or another",
        "housekeeping.adopt",
        (YES,),
    ),
    "trash": Command(
        "say what housekeeping has moved to the trash",
        "housekeeping.rubbish",
        (_option("--empty", action="store_true", help="delete it for good"),),
    ),
    "score": Command(
        "score stored runs again",
        "recomputing.score",
        (
            DATASETS,
            _option(
                "--measure",
                action="append",
                default=[],
                help="by this one too, such as P@5, AP or Bpref; may be given several times",
            ),
            AGAIN,
        ),
    ),
    "overlap": Command(
        "count the words of collections and compare them with all that are counted",
        "analysing.compare",
        (COLLECTIONS, AGAIN),
    ),
    "lengths": Command(
        "count the lengths of documents, of a dataset and of what its runs put first",
        "analysing.count_lengths",
        (COLLECTIONS, AGAIN),
    ),
    "sample-on": Command(
        "draw more for a sampled task, of what nobody judged by now",
        "sampling_on.sample_on",
        (
            _option("task", metavar="TASK", help="its id, as the page Annotate shows it"),
            _option("--pairs", type=_count, required=True, help="documents to judge besides"),
            _option(
                "--add",
                nargs="+",
                default=(),
                metavar="SYSTEM",
                help="count these systems in from now on, such as runs imported since",
            ),
        ),
    ),
    "judgements": Command(
        "write added judgements to a file, take a file's in as added ones, or take those back",
        "judging.judgements",
        (
            _option("what", choices=("export", "import", "withdraw")),
            _option(
                "file",
                type=Path,
                help="qrels, BEIR tsv or CSV; import also reads a BEIR folder or archive,"
                " whose judgements beyond the stored ones are added; withdraw: what was imported",
            ),
            _option("--yes", action="store_true", help="withdraw: do it, not only say how many"),
            OF_DATASET,
            _option("--format", choices=FORMATS, help="default: as the file's name or content is"),
            _option(
                "--person",
                default="",
                help="who judged, where the file names nobody; export: of this person alone",
            ),
            _option(
                "--as-import",
                action="store_true",
                help="import, withdraw: all of a CSV is an import, whatever source it names",
            ),
            _option("--with-official", action="store_true", help="export: official ones as well"),
            *COUNTED,
        ),
    ),
    "jobs": Command(
        "start, list, cancel and retry jobs, which workers do",
        "jobs.job",
        (
            _option("what", choices=("start", "list", "cancel", "retry")),
            _option("names", nargs="*", metavar="KIND|JOB", help=JOB_NAMES),
            _option("--systems", nargs="+", default=(), metavar="SYSTEM", help="such as bm25"),
            _option("--datasets", nargs="+", default=(), metavar="DATASET", help=EXAMPLES),
            AGAIN,
            AS_BEIR,
            JSON,
        ),
    ),
    "worker": Command(
        "do jobs until stopped; several workers at once are fine",
        "jobs.work",
        (_option("--concurrency", type=_count, default=1, help="this many workers (default: 1)"),),
    ),
    "show": Command(
        "print what is stored, or the jobs",
        "showing.show",
        (
            _option("what", choices=(*SHOWN, "systems")),
            _option("--compare", nargs=2, default=(), metavar="SET", help="sets: these two"),
            _option("--dataset", help="only this one, such as scifact"),
            _option("--system", help="only this one, such as bm25"),
            _option("--measure", help="only this one, such as nDCG@10"),
            _option("--slice", metavar="KEY", help="scores: by words, relevant, question, a label"),
            _option("--against", help="power: only pairs with this system, too"),
            _option("--difference", type=_difference, help="power: queries to find it, as .02"),
            _option("--task", help="estimates: the sampled task, by its id"),
            _option("--pairs", action="store_true", help="estimates: of every two systems"),
            _option(
                "--machine", metavar="NAME", help="estimates: by its grades, and corrected, too"
            ),
            _option("--half-width", type=_difference, help="estimates: judgements it takes"),
            _option("--published", action="store_true", help="the papers' figures instead"),
            _option(
                "--judgements",
                metavar="SET",
                default=OFFICIAL,
                help="of scores, holes and power: official; added: the added judgements counted"
                " in; a set that `show sets` lists: by that one alone",
            ),
            _option("--flips", action="store_true", help="of two sets: the pairs that turn"),
            _option("--grades", action="store_true", help="of two sets: what both say of a pair"),
            *COUNTED,
            _option("--returned-only", action="store_true", help="over answered queries, as BEIR"),
            JSON,
        ),
    ),
    "gate": Command(
        "decide whether a candidate is no worse than a baseline: 0 it is not, 3 worse, 4 undecided",
        "gate.gate",
        (
            _option("baseline", help="a stored system, a run file, or a folder of run files"),
            _option("candidate", help="the same, or of another kind"),
            _option("--dataset", nargs="+", action="extend", required=True, help=EXAMPLES),
            _option("--measure", default="nDCG@10", help="default: %(default)s"),
            _option(
                "--margin",
                type=_difference,
                default=0.01,
                help="the loss of the measure's mean that is too much (default: %(default)s)",
            ),
            _option("--slice", nargs="+", default=(), metavar="KEY", help="each kind, too"),
            JSON,
            _option("--markdown", action="store_true", help="print a pull request's comment"),
            _option("--junit", type=Path, metavar="FILE", help="write JUnit's XML as well"),
        ),
    ),
    "demo": Command(
        "compute the runs anew that ship on the PyDocs collections, and compare",
        "recomputing.demo",
    ),
    "serve": Command(
        "start the dashboard, and a worker behind it",
        "recomputing.serve",
        (
            _option("--address", help="where it listens (default: 127.0.0.1); others need sign-in"),
            _option("--port", type=_count, help="default: the first free one from 8501 on"),
        ),
    ),
    "ship": Command(
        "write what is stored of datasets to data/precomputed, without texts",
        "recomputing.ship",
        (
            ON_DATASETS,
            _option("--only", action="store_true", help="ship nothing of other datasets"),
            _option("--without-runs", action="store_true", help="judgements and counts alone"),
        ),
    ),
    "export": Command(
        "write a figure, a table, a whole view or a run to a file, without a browser window",
        "exporting.export",
        (
            _option("what", choices=EXPORTED),
            _option("name", nargs="?", default="", help=f"{EXPORTS}; of a view, its page"),
            _option(
                "--out",
                type=Path,
                metavar="FILE",
                help="its ending says the format: .svg .png .pdf .html; .csv .parquet .tex .md;"
                " .zip for a view; of a run .gz and .zst pack it",
            ),
            _option("--address", default="", help="copied from a browser: the same view"),
            _option("--dataset", default="", help="such as scifact"),
            _option("--system", default="", help="of a run: such as bm25"),
            _option("--measure", default="", help="such as nDCG@10"),
            _option(
                "--judgements",
                choices=(OFFICIAL, ADDED),
                help="of figures, tables and views: which judgements count, as on the pages",
            ),
            _option(
                "--set",
                nargs="+",
                default=(),
                metavar="KEY=VALUE",
                help="what other pickers show, by the keys that the address has",
            ),
            _option(
                "--all",
                type=Path,
                metavar="DIR",
                help="of figures: a folder for all that can be drawn, and captions.tex",
            ),
            _option(
                "--format", choices=PICTURES, default="pdf", help="of --all (default: %(default)s)"
            ),
            _option(
                "--width",
                choices=tuple(WIDTHS),
                default=TWO,
                help="of a figure: mm for one column or two, or as on the page"
                " (default: %(default)s)",
            ),
            _option(
                "--narrow",
                dest="width",
                action="store_const",
                const=ONE,
                default=argparse.SUPPRESS,
                help="the same as --width 84",
            ),
            _option(
                "--font",
                choices=tuple(FAMILIES),
                default="page",
                help="of a figure: the page's, or a paper's with serifs (default: %(default)s)",
            ),
            _option(
                "--no-title",
                dest="untitled",
                action="store_true",
                help="of a figure: without its title, which is for the caption of a paper",
            ),
        ),
    ),
    "snapshot": Command(
        "write everything that is stored to one DuckDB file",
        "recomputing.snapshot",
        (
            _option("file", type=Path),
            _option(
                "--without-texts",
                action="store_true",
                help="leave out those of documents and queries, which belong to their authors",
            ),
        ),
    ),
}


class _Parser(argparse.ArgumentParser):
    """Repeats wrong words without what a terminal would obey."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        super().error(printable.printable(message))


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = _Parser(prog="python -m compute", description=__doc__)
    choose = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = choose.add_parser(name, help=command.text, description=command.text)
        for names, kind in command.options:
            sub.add_argument(*names, **kind)  # pyrefly: ignore
    return top


def main(words: Sequence[str] | None = None) -> int:
    """Run one command: 0 done, 2 wrong input in one sentence, 1 a bug with its log's id."""
    arguments = parser().parse_args(words)
    handler = logging.StreamHandler()
    handler.setFormatter(redaction.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        with permissions.private():
            return COMMANDS[arguments.command].run(arguments)
    except BeirscopeError as error:
        sys.stderr.write(f"{printable.printable(str(error))}\n")
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("stopped; nothing half-done was published\n")
        return 130
    except Exception as error:
        return 2 if _is_damage() else _failed(arguments.command, error)


def _is_damage() -> bool:
    """Whether the error comes of damaged files of the store, which are named then."""
    with contextlib.suppress(Exception):
        # Imported late: the store brings SQLAlchemy, which help and wrong words do without.
        from compute.store import damage
        from compute.store.store import Store

        damaged = damage.found_anew(Store(settings.load()))
        sys.stderr.write("".join(f"{printable.printable(damage.said(part))}\n" for part in damaged))
        return bool(damaged)
    return False


def _failed(command: str, error: Exception) -> int:
    """Say what a disk refused, or that there is a bug."""
    try:
        now = settings.load()
    except Exception:  # The bug may be in reading them.
        now = settings.Settings()
    refused = disk_refusals.refusal(error, now.home)
    words = str(refused) if refused else bug_reports.said(now, command, error)
    sys.stderr.write(f"{printable.printable(words)}\n")
    return 2 if refused else 1


if __name__ == "__main__":
    sys.exit(main())

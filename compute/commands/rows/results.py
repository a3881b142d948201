"""Rows of the commands that show results and hand them on."""

import argparse
from pathlib import Path

from compute.commands.choices import ADDED, EXPORTED, EXPORTS, OFFICIAL, RUN_FORMATS, SHOWN
from compute.commands.rows.options import (
    COUNTED,
    EXAMPLES,
    JSON,
    Command,
    difference,
    option,
)
from compute.exports.fonts import FAMILIES
from compute.exports.formats import ONE, PICTURES, TWO, WIDTHS

COMMANDS = {
    "show": Command(
        "print what is stored, or the jobs",
        "show.stored.show",
        (
            option("what", choices=(*SHOWN, "systems")),
            option("--compare", nargs=2, default=(), metavar="SET", help="sets: these two"),
            option("--dataset", help="only this one, such as scifact"),
            option("--system", help="only this one, such as bm25"),
            option("--measure", help="only this one, such as nDCG@10"),
            option("--slice", metavar="KEY", help="scores: by words, relevant, language, a label"),
            option("--against", help="power: only pairs with this system, too"),
            option("--difference", type=difference, help="power: queries to find it, as .02"),
            option("--task", help="estimates: the sampled task, by its id"),
            option("--pairs", action="store_true", help="estimates: of every two systems"),
            option(
                "--machine", metavar="NAME", help="estimates: by its grades, and corrected, too"
            ),
            option("--half-width", type=difference, help="estimates: judgements it takes"),
            option("--published", action="store_true", help="the papers' figures instead"),
            option(
                "--judgements",
                metavar="SET",
                default=OFFICIAL,
                help="of scores, holes, power, versions: official; added: added judgements counted"
                " in; a set that `show sets` lists: by that one alone",
            ),
            option("--flips", action="store_true", help="of two sets: the pairs that turn"),
            option("--grades", action="store_true", help="of two sets: what both say of a pair"),
            *COUNTED,
            option("--returned-only", action="store_true", help="over answered queries, as BEIR"),
            JSON,
        ),
    ),
    "gate": Command(
        "decide whether a candidate is no worse than a baseline: 0 it is not, 3 worse, 4 undecided,"
        " 5 not comparable",
        "gate.gate",
        (
            option("baseline", help="a stored system, a run file, or a folder of run files"),
            option("candidate", help="the same, or of another kind"),
            option("--dataset", nargs="+", action="extend", required=True, help=EXAMPLES),
            option("--measure", default="nDCG@10", help="default: %(default)s"),
            option(
                "--margin",
                type=difference,
                default=0.01,
                help="the loss of the measure's mean that is too much (default: %(default)s)",
            ),
            option("--slice", nargs="+", default=(), metavar="KEY", help="each kind, too"),
            option(
                "--unanswered",
                choices=("refuse", "zero"),
                default="refuse",
                help="over 10%% of the baseline's without a hit: not comparable, or each as 0",
            ),
            JSON,
            option("--markdown", action="store_true", help="print a pull request's comment"),
            option("--junit", type=Path, metavar="FILE", help="write JUnit's XML as well"),
        ),
    ),
    "export": Command(
        "write a figure, a table, a whole view or a run to a file, or a site to publish, without a"
        " browser window",
        "exporting.export",
        (
            option("what", choices=EXPORTED),
            option(
                "name",
                nargs="?",
                default="",
                help=f"{EXPORTS}; of a view, its page; of a site, its folder",
            ),
            option(
                "--out",
                type=Path,
                metavar="FILE",
                help="its ending says the format: .svg .png .pdf .html; .csv .parquet .tex .md;"
                " .zip for a view; of a run .gz and .zst pack it",
            ),
            option("--address", default="", help="copied from a browser: the same view"),
            option(
                "--dataset", nargs="+", default=[""], help="such as scifact; of a site, several"
            ),
            option("--system", default="", help="of a run: such as bm25"),
            option(
                "--measure", nargs="+", default=[""], help="such as nDCG@10; of a site, several"
            ),
            option(
                "--judgements",
                choices=(OFFICIAL, ADDED),
                help="of figures, tables, views and sites: which judgements count, as on the pages",
            ),
            option(
                "--set",
                nargs="+",
                default=(),
                metavar="KEY=VALUE",
                help="what other pickers show, by the keys that the address has",
            ),
            option(
                "--all",
                type=Path,
                metavar="DIR",
                help="of figures: a folder for all that can be drawn, and captions.tex",
            ),
            option(
                "--format",
                choices=(*PICTURES, *RUN_FORMATS),
                default="pdf",
                help="of --all (default: %(default)s); of a run in JSON: beir, mteb or golden",
            ),
            option(
                "--width",
                choices=tuple(WIDTHS),
                default=TWO,
                help="of a figure: mm for one column or two, or as on the page"
                " (default: %(default)s)",
            ),
            option(
                "--narrow",
                dest="width",
                action="store_const",
                const=ONE,
                default=argparse.SUPPRESS,
                help="the same as --width 84",
            ),
            option(
                "--font",
                choices=tuple(FAMILIES),
                default="page",
                help="of a figure: the page's, or a paper's with serifs (default: %(default)s)",
            ),
            option(
                "--no-title",
                dest="untitled",
                action="store_true",
                help="of a figure: without its title, which is for the caption of a paper",
            ),
            option("--title", default="Retrieval results", help="of a site (default: %(default)s)"),
            option("--by", default="", metavar="NAME", help="of a site: who publishes it"),
            option(
                "--texts",
                action="store_true",
                help="of a site: documents and queries, too, of datasets whose licences allow it",
            ),
        ),
    ),
}

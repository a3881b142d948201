"""Rows of the commands about judgements, by people and machines."""

from pathlib import Path

from compute.commands.choices import FORMATS
from compute.commands.rows.options import (
    COUNTED,
    DATASET,
    EXAMPLES,
    GRADES,
    OF_DATASET,
    READ_AS,
    Command,
    count,
    option,
)

COMMANDS = {
    "judgements": Command(
        "write added judgements to a file, take a file's in as added ones, or take those back",
        "judgement_files.judgements",
        (
            option("what", choices=("export", "import", "withdraw")),
            option(
                "file",
                type=Path,
                help="qrels, BEIR tsv, JSON or CSV; import also reads other shapes, and a BEIR"
                " folder or archive, whose judgements beyond the stored ones are added; withdraw:"
                " what was imported",
            ),
            option("--yes", action="store_true", help="withdraw: do it, not only say how many"),
            OF_DATASET,
            option("--format", choices=FORMATS, help="default: as the file's name or content is"),
            option(
                "--person",
                default="",
                help="who judged, where the file names nobody; export: of this person alone",
            ),
            option(
                "--as-import",
                action="store_true",
                help="import, withdraw: all of a CSV is an import, whatever source it names",
            ),
            option("--with-official", action="store_true", help="export: official ones as well"),
            *COUNTED,
            *READ_AS,
            *GRADES,
        ),
    ),
    "sample-on": Command(
        "draw more for a sampled task, of what nobody judged by now",
        "sampling_on.sample_on",
        (
            option("task", metavar="TASK", help="its id, as the page Judge shows it"),
            option("--pairs", type=count, required=True, help="documents to judge besides"),
            option(
                "--add",
                nargs="+",
                default=(),
                metavar="SYSTEM",
                help="count these systems in from now on, such as runs imported since",
            ),
        ),
    ),
    "import-grades": Command(
        "take in what a machine graded, apart from all judgements",
        "importing.import_grades",
        (
            option(
                "file",
                type=Path,
                nargs="?",
                help="umbrela's JSONL, or judgements in any shape: qrels, CSV, JSON, Parquet …",
            ),
            option("--dataset", required=True, metavar="DATASET", help=EXAMPLES),
            option("--machine", required=True, metavar="NAME", help="what to call the machine"),
            option("--run", default="", metavar="SYSTEM", help="in a file's place: its scores"),
            option(
                "--thresholds",
                nargs="+",
                type=float,
                default=(),
                metavar="SCORE",
                help="of a run: the score from which on a pair has grade 1, then grade 2, …",
            ),
            option(
                "--quantiles",
                nargs="+",
                type=float,
                default=(),
                metavar="SHARE",
                help="of a run: the same as shares of its hits, such as 0.8 0.95",
            ),
            option("--replace", action="store_true", help="put them in the place of its others"),
            *READ_AS,
            *GRADES,
        ),
    ),
    "judge": Command(
        "have a machine judge documents; without limits only say what that would take",
        "machine_judging.judge",
        (
            DATASET,
            option("--machine", default="", metavar="NAME", help="what to call the machine"),
            option("--task", default="", metavar="ID", help="the documents of a judging task"),
            option(
                "--systems",
                nargs="+",
                default=(),
                metavar="SYSTEM",
                help="in a task's place: what is unjudged at the top of these stored runs",
            ),
            option("--depth", type=count, default=10, help="how much of their top (default: 10)"),
            option("--guideline", type=Path, metavar="FILE", help="with --systems: plain text"),
            option("--requests", type=count, default=0, help="the most that may be made"),
            option("--tokens", type=count, default=0, help="the most that may be spent"),
            option(
                "--allow-texts-to",
                default="",
                metavar="ADDRESS",
                help="let texts of the dataset go to this server, from now on",
            ),
            option("--forbid-texts", action="store_true", help="let them go nowhere any more"),
            option("--again", action="store_true", help="ask anew where no grade came"),
            option("--queue", action="store_true", help="as a job, which a worker does"),
        ),
    ),
}

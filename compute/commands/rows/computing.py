"""Rows of the commands that compute, and those of jobs and housekeeping."""

from pathlib import Path

from compute.commands.rows.options import (
    AGAIN,
    AS_BEIR,
    AS_VERSION,
    COLLECTIONS,
    DATASET,
    DATASETS,
    EXAMPLES,
    JOB_NAMES,
    JSON,
    ON_DATASETS,
    SYSTEM,
    YES,
    Command,
    count,
    option,
)

_WEIGHTS = "do what loads a model's weights alone, where weights_apart is set"

COMMANDS = {
    "run": Command(
        "load, index, search, score and publish a system on datasets",
        "recomputing.run",
        (SYSTEM, ON_DATASETS, AGAIN, *AS_VERSION, AS_BEIR),
    ),
    "train": Command(
        "train a system that is a recipe (genq, ict-herbert, bm25-augmented) on a dataset",
        "recomputing.train",
        (
            option("system", metavar="SYSTEM", help="such as genq, or 'genq(epochs=2)'"),
            DATASET,
            option(
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
    "score": Command(
        "score stored runs again",
        "recomputing.score",
        (
            DATASETS,
            option(
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
    "cluster-queries": Command(
        "put a dataset's queries in clusters by their meaning, as labels of the key cluster",
        "analysing.cluster_queries",
        (
            DATASET,
            option(
                "--clusters",
                type=count,
                default=0,
                metavar="N",
                help="so many (default: of 2 to 12 those of the largest silhouette)",
            ),
            option("--replace", action="store_true", help="in the place of its labels `cluster`"),
        ),
    ),
    "lengths": Command(
        "count the lengths of documents, of a dataset and of what its runs put first",
        "analysing.count_lengths",
        (COLLECTIONS, AGAIN),
    ),
    "demo": Command(
        "compute the runs anew that ship on the PyDocs collections, and compare",
        "recomputing.demo",
    ),
    "jobs": Command(
        "start, list, cancel and retry jobs, which workers do",
        "jobs.job",
        (
            option("what", choices=("start", "list", "cancel", "retry")),
            option("names", nargs="*", metavar="KIND|JOB", help=JOB_NAMES),
            option("--systems", nargs="+", default=(), metavar="SYSTEM", help="such as bm25"),
            option("--datasets", nargs="+", default=(), metavar="DATASET", help=EXAMPLES),
            AGAIN,
            AS_BEIR,
            JSON,
        ),
    ),
    "worker": Command(
        "do jobs until stopped; several workers at once are fine",
        "jobs.work",
        (
            option("--concurrency", type=count, default=1, help="this many workers (default: 1)"),
            option("--weights", action="store_true", help=_WEIGHTS),
            option(
                "--idle", type=count, metavar="MINUTES", help="end when so long nothing is done"
            ),
        ),
    ),
    "serve": Command(
        "start the dashboard, and a worker behind it",
        "recomputing.serve",
        (
            option("--address", help="where it listens (default: 127.0.0.1); others need sign-in"),
            option("--port", type=count, help="default: the first free one from 8501 on"),
        ),
    ),
    "ship": Command(
        "write what is stored of datasets to data/precomputed, without texts",
        "recomputing.ship",
        (
            ON_DATASETS,
            option("--only", action="store_true", help="ship nothing of other datasets"),
            option("--without-runs", action="store_true", help="judgements and counts alone"),
        ),
    ),
    "snapshot": Command(
        "write everything that is stored to one DuckDB file",
        "recomputing.snapshot",
        (
            option("file", type=Path),
            option(
                "--without-texts",
                action="store_true",
                help="leave out those of documents and queries, which belong to their authors",
            ),
            option("--versions", action="store_true", help="earlier runs of systems, too"),
        ),
    ),
    "backup": Command(
        "keep the results, judgements and jobs of this home in a folder, while others work",
        "backups.backup",
        (option("folder", type=Path, metavar="DIR", help="a new one, or that of an older backup"),),
    ),
    "restore": Command(
        "make a backup the content of a new home, in SQLite or in PostgreSQL",
        "backups.restore",
        (
            option("folder", type=Path, metavar="DIR", help="where `backup` kept it"),
            option("--leave-out-damaged", action="store_true", help="restore what is whole"),
        ),
    ),
    "move-state": Command(
        "move the state and jobs of this home from SQLite to the PostgreSQL that `state` names",
        "backups.move_state",
    ),
    "adopt": Command(
        "have the state at hand take over a home whose own state is lost or another",
        "housekeeping.adopt",
        (YES,),
    ),
    "trash": Command(
        "say what housekeeping has moved to the trash",
        "housekeeping.rubbish",
        (option("--empty", action="store_true", help="delete it for good"),),
    ),
}

"""Rows of the commands that bring in and take away what is stored."""

from pathlib import Path

from compute.commands.rows.options import (
    AS_BEIR,
    AS_VERSION,
    DATASET,
    EXAMPLES,
    FOLD,
    GRADES,
    JSON,
    OF_DATASET,
    READ_AS,
    YES,
    Command,
    option,
)

COMMANDS = {
    "datasets": Command(
        "every dataset and what is stored of it",
        "listing.datasets",
        (option("--stored", action="store_true", help="only those that are stored here"), JSON),
    ),
    "systems": Command(
        "every system, what it was verified against, whether it was tried and runs here",
        "systems.show_systems",
        (JSON,),
    ),
    "check": Command(
        "report what is in BEIR folders or archives, files of runs or judgements, or in the store",
        "checking.check",
        (
            option("paths", nargs="*", type=Path, metavar="PATH", help="a file or a folder"),
            option("--store", action="store_true", help="all that is stored; status 2 if damaged"),
            option("--scores", action="store_true", help="stored scores, against pytrec_eval's"),
            option("--dataset", help="hold runs and qrels against this one's ids"),
            *READ_AS,
            FOLD,
            *GRADES,
            JSON,
        ),
    ),
    "fetch": Command(
        "fetch the archives of datasets; without a dataset, list those that there are",
        "fetching.fetch",
        (
            option(
                "datasets",
                nargs="*",
                metavar="DATASET",
                help="scifact, scifact-pl, or irds:NAME of the package ir_datasets",
            ),
            option("--name", default="", help="what to call a dataset of ir_datasets"),
            option("--again", action="store_true", help="fetch even what is here"),
            JSON,
        ),
    ),
    "import-dataset": Command(
        "take in an own collection: a BEIR folder or archive, or judgements or runs alone",
        "importing.import_dataset",
        (
            option("path", type=Path, nargs="?", help="a BEIR folder or archive"),
            option(
                "--qrels",
                type=Path,
                help="judgements alone, where documents cannot be had: qrels, CSV, JSON, Parquet …",
            ),
            option(
                "--queries",
                type=Path,
                help="with --qrels or --runs: TREC topics, queries.jsonl, or id<TAB>text",
            ),
            option(
                "--runs",
                type=Path,
                nargs="+",
                help="runs to take in at once; without judgements they make the dataset",
            ),
            option("--name", required=True, help="what to call it; mine/dev is split dev of mine"),
            option(
                "--split", default="", help="the split to score (default: test, or the only one)"
            ),
            option("--language", default="en", help="en, pl, another ISO code, or unknown"),
            option("--drop-self", action="store_true", help="drop a query's own document"),
            option(
                "--level",
                type=int,
                default=1,
                metavar="N",
                help="score by AP(rel=N)@100 and the like, too: relevant from N on (TREC DL: 2)",
            ),
            *READ_AS,
            *GRADES,
        ),
    ),
    "add-texts": Command(
        "give a dataset that is stored by its ids its texts; no run is computed again",
        "importing.add_texts",
        (
            DATASET,
            option(
                "path",
                type=Path,
                nargs="?",
                help="a BEIR folder or archive (default: where the dataset is read from)",
            ),
        ),
    ),
    "import-run": Command(
        "take in runs as systems of a dataset: TREC's files, CSV, JSON, Parquet and others",
        "importing.import_run",
        (
            option("files", nargs="+", type=Path, metavar="FILE"),
            OF_DATASET,
            option("--system", help="its name (default: the run's own tag, or the file's name)"),
            option(
                "--replace", action="store_true", help="put it in the place of a run of its name"
            ),
            *AS_VERSION,
            AS_BEIR,
            *READ_AS,
            FOLD,
        ),
    ),
    "import-labels": Command(
        "take in what kinds of queries a dataset has, to see scores by them",
        "importing.import_labels",
        (
            option("file", type=Path, help="TSV: query_id, key, value; or BEIR's queries.jsonl"),
            option("--dataset", required=True, metavar="DATASET", help=EXAMPLES),
            option("--replace", action="store_true", help="in the place of labels of its keys"),
        ),
    ),
    "leakage": Command(
        "find test queries and relevant documents that a training set holds, equal or nearly so",
        "leakage.compare",
        (
            OF_DATASET,
            option(
                "--training",
                nargs="+",
                default=(),
                type=Path,
                metavar="FILE",
                help="its files: queries.jsonl, corpus.jsonl, TSV of pairs, or a text in each line",
            ),
            option("--split", metavar="DATASET", help="or a split, such as nfcorpus/train"),
            option("--name", default="", help="what to call it (of a split, its name)"),
            option(
                "--threshold",
                type=float,
                default=0.7,
                help="Jaccard of character 5-grams from which on texts are near-equal"
                " (default: %(default)s)",
            ),
            JSON,
        ),
    ),
    "remove": Command(
        "take away a dataset with its runs, or one run; added judgements stay",
        "importing.remove",
        (
            option("dataset", metavar="DATASET", help="as `datasets` lists it"),
            option("--system", default="", help="only this one's run on it"),
            option("--machine", default="", help="only the grades of this one on it"),
            option("--training", default="", help="only what was found of this training set"),
            option("--labels", default="", metavar="KEY", help="only this key of query labels"),
            YES,
        ),
    ),
}

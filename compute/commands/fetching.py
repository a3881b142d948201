"""The command that brings collections here: fetch."""

from argparse import Namespace

from pandas import DataFrame

from compute.base import printable
from compute.base.errors import BeirscopeError, WrongInput
from compute.base.words import counted, sized
from compute.commands.common import done
from compute.commands.opening import end_bar, open_bench, say
from compute.datasets import dataset
from compute.intake import imports
from compute.intake.fetch import irds, offers
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets


def fetch(arguments: Namespace) -> int:
    """Fetch the archives of datasets; without one, list what can be fetched."""
    bench = open_bench()
    if not arguments.datasets:
        rows = offers.listed(bench.settings)
        return printable.show(rows if arguments.json else _short(rows), arguments.json)
    others = [name for name in arguments.datasets if name.startswith(irds.PREFIX)]
    if others:
        return _of_ir_datasets(bench, arguments, others)
    own = own_datasets(bench.store)
    wanted = {offers.offer(row).name: row for row in (dataset(n, own) for n in arguments.datasets)}
    failed = 0
    for row in wanted.values():
        try:
            _one(bench, row, again=arguments.again)
        except BeirscopeError as error:
            if len(wanted) == 1:
                raise
            failed += 1
            printable.warn(str(error))
    if failed:
        printable.warn(f"{failed} of {counted(len(wanted), 'archive')} could not be fetched")
    return 2 if failed else 0


def _of_ir_datasets(bench: Bench, arguments: Namespace, names: list[str]) -> int:
    if len(names) > 1 or len(arguments.datasets) > 1:
        raise WrongInput("fetch a dataset of ir_datasets by itself: each gets a name of its own")
    loaded = irds.fetch(bench, names[0], called=arguments.name)
    documents = loaded.documents.rows if loaded.documents else 0
    printable.say(
        f"{loaded.dataset.name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
    )
    if told := imports.replaced(bench.store, loaded):
        printable.say(told)
    return done(bench)


def _one(bench: Bench, row: offers.Dataset, *, again: bool) -> None:
    # Imported late: the rest of the command line needs no network library.
    from compute.intake.fetch.fetching import fetch as bring

    try:
        fetched = bring(bench, row, again=again)
    finally:
        end_bar(bench)
    told = "fetched, checksum right" if fetched.new else "here already"
    say(
        bench,
        f"{fetched.offer.name}: {told}: {printable.printable(str(fetched.path))};"
        f" python -m compute run bm25 {fetched.offer.rows[0].name} runs on it",
    )


def _short(rows: DataFrame) -> DataFrame:
    """The columns that fit a terminal."""
    return DataFrame(
        {
            "archive": rows["archive"],
            "here": rows["here"].where(rows["here"] != "", "no"),
            "size": [sized(n) if n else "–" for n in rows["size"].fillna(0)],
            "documents": [f"{n:,}" if n else "–" for n in rows["documents"].fillna(0)],
            "licence": rows["licence"],
            "from": rows["origin"],
            "why not": rows["obstacle"].str.partition(":")[0],
        }
    )

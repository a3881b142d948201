"""The fetch command, which downloads datasets."""

from collections.abc import Sequence

from pandas import DataFrame

from compute.base import printable
from compute.base.errors import BeirscopeError, WrongInput
from compute.base.words import counted, sized
from compute.commands import options
from compute.commands.common import done
from compute.commands.opening import end_bar, open_bench, say
from compute.intake import imports
from compute.intake.fetch import irds, offers
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of


def fetch(*datasets: str, name: str = "", again: bool = False, json: options.Json = False) -> int:
    """Download datasets, or list those available if none is named.

    Args:
        datasets: scifact, scifact-pl, or irds:NAME for a dataset of the ir_datasets package
        name: local name of the ir_datasets dataset
        again: download even if already stored
    """
    bench = open_bench()
    if not datasets:
        rows = offers.listed(bench.settings)
        return printable.show(rows if json else _short(rows), json)
    if any(one.startswith(irds.PREFIX) for one in datasets):
        return _of_ir_datasets(bench, datasets, name)
    rows = [dataset_of(bench.store, name) for name in datasets]
    wanted = {offers.offer(row).name: row for row in rows}
    failed = 0
    for row in wanted.values():
        try:
            _one(bench, row, again=again)
        except BeirscopeError as error:
            if len(wanted) == 1:
                raise
            failed += 1
            printable.warn(str(error))
    if failed:
        printable.warn(f"{failed} of {counted(len(wanted), 'archive')} could not be fetched")
    return 2 if failed else 0


def _of_ir_datasets(bench: Bench, datasets: Sequence[str], name: str) -> int:
    if len(datasets) > 1:
        raise WrongInput("--name names one dataset: fetch datasets of ir_datasets one at a time")
    loaded = irds.fetch(bench, datasets[0], called=name)
    documents = loaded.documents.rows if loaded.documents else 0
    printable.say(
        f"{loaded.dataset.name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
    )
    if told := imports.replaced(bench.store, loaded):
        printable.say(told)
    return done(bench)


def _one(bench: Bench, row: offers.Dataset, *, again: bool) -> None:
    # Imported here because no other command needs a network library.
    from compute.intake.fetch.fetching import fetch as bring

    try:
        fetched = bring(bench, row, again=again)
    finally:
        end_bar(bench)
    told = "fetched, checksum correct" if fetched.new else "here already"
    say(
        bench,
        f"{fetched.offer.name}: {told}: {printable.printable(str(fetched.path))};"
        f" python -m compute run bm25 {fetched.offer.rows[0].name} evaluates BM25 on it",
    )


def _short(rows: DataFrame) -> DataFrame:
    """Return the columns of the offered archives that fit a terminal."""
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

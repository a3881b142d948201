"""Commands that write stored results for others: admin ship, admin snapshot."""

from compute.base import printable
from compute.base.permissions import usual
from compute.base.words import counted
from compute.commands import options
from compute.commands.opening import named, open_bench
from compute.exports import shipping
from compute.reading import database
from compute.store import damage
from compute.store.store import SHIPPED


def ship(*datasets: options.Datasets, only: bool = False, without_runs: bool = False) -> int:
    """Write stored results of datasets to data/precomputed, without texts.

    Args:
        only: also remove shipped results of all other datasets
        without_runs: only judgements and counts
    """
    bench = open_bench()
    names = [row.name for row in named(bench, datasets)]
    systems = () if without_runs else None
    shipment = shipping.ship(bench.store, names, systems, only=only)
    usual(*SHIPPED.rglob("*"))
    printable.say(shipment)
    return 0


def snapshot(file: options.File, /, *, without_texts: bool = False, versions: bool = False) -> int:
    """Write all stored data to one DuckDB file.

    Args:
        without_texts: leave out the texts of documents and queries
        versions: include superseded runs
    """
    store = open_bench().store
    printable.warn(*damage.told(damage.verify(store)))
    picked = None if versions else ()
    database.snapshot(store, file, texts=not without_texts, picked=picked)
    usual(file)
    size = file.stat().st_size
    whole = sum(not part.damage for part in store.parts(picked=picked))
    printable.say(f"{file}: {counted(whole, 'part')}, {size:,} bytes")
    return 0

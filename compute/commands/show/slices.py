"""Scores by kinds of queries: show scores --slice."""

from argparse import Namespace

from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.commands.common import scored_by
from compute.commands.show.stored import cursor_of, name_the_wrong
from compute.datasets import dataset
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.dataset import select_slices


def by_slice(bench: Bench, arguments: Namespace) -> DataFrame:
    """dataset, system, measure, slice, n_queries, value, low, high: of each kind of query."""
    if not arguments.dataset:
        raise WrongInput("--slice takes one dataset: name it with --dataset")
    row = dataset(arguments.dataset, own_datasets(bench.store))
    measure = arguments.measure or "nDCG@10"
    lacking = scored_by(bench, measure, row.name, arguments.system or "")
    with cursor_of(bench, arguments) as cursor:
        of = row.parts or (row.name,)
        found = select_slices.by_slice(cursor, datasets=of, measure=measure, key=arguments.slice)
    found = found.rename(columns={"label": "slice"}).assign(dataset=row.name, measure=measure)
    if arguments.system:
        name_the_wrong(found, {"system": arguments.system})
        found = found[found["system"] == arguments.system]
    if found.empty:
        raise Missing(lacking[0] if lacking else f"nothing has a {measure} on {row.name} yet")
    return found[["dataset", "system", "measure", "slice", "n_queries", "value", "low", "high"]]

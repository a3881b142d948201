"""The slices command, which prints scores by query group."""

from typing import Annotated

from cyclopts import Parameter

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands import groups, options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.commands.show.stored import cursor_of, name_the_wrong
from compute.store.own_datasets import dataset_of
from compute.views.dataset import select_slices


def slices(
    *,
    slice: Annotated[str, Parameter(metavar="KEY")],
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: options.OnlyMeasure = "nDCG@10",
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Print each system's mean on each query group of a dataset, with its 95% CI.

    Args:
        slice: how to group queries: words (their length), relevant (number of relevant documents),
            language, or the key of a label
    """
    if not dataset:
        raise WrongInput("--slice needs a dataset: name it with --dataset")
    bench = open_whole()
    row = dataset_of(bench.store, dataset)
    lacking = scored_by(bench, measure, row.name, system)
    with cursor_of(bench, judged, dataset, {system} - {""}) as cursor:
        of = row.parts or (row.name,)
        found = select_slices.by_slice(cursor, datasets=of, measure=measure, key=slice)
    found = found.rename(columns={"label": "slice"}).assign(dataset=row.name, measure=measure)
    if system:
        name_the_wrong(found, {"system": system})
        found = found[found["system"] == system]
    if found.empty:
        raise Missing(lacking[0] if lacking else (f"no system has {measure} on {row.name}"))
    columns = ["dataset", "system", "measure", "slice", "n_queries", "value", "low", "high"]
    return printable.show(found[columns], json)

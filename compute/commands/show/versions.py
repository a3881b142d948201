"""What `show versions` prints: the runs that others replaced, and what those changed."""

from argparse import Namespace

import pandas as pd
from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.commands.common import scored_by
from compute.commands.show.stored import cursor_of
from compute.store import run_versions
from compute.store.loading import Bench
from compute.views.dataset import versions as figures


def _of(arguments: Namespace) -> str:
    of = f" of {arguments.system}" if arguments.system else ""
    return of + (f" on {arguments.dataset}" if arguments.dataset else "")


def versions(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each version of each system on each dataset, the oldest first.

    dataset, and the columns of `views.dataset.versions` `history` and `scored`. Raises Missing
    where there is none.
    """
    if arguments.published or arguments.returned_only:
        raise WrongInput("versions are of our runs over all queries: leave out the option")
    kept = run_versions.stored(bench.store, arguments.dataset, arguments.system)
    if not kept:
        system, _, label = (arguments.system or "").rpartition("@")
        raise Missing(
            f"{arguments.system} is a version: name its system, --system {system}"
            if label and system and run_versions.stored(bench.store, arguments.dataset, system)
            else f"no version is kept{_of(arguments)}: --as-version of import-run and run keeps one"
        )
    measure = arguments.measure or "nDCG@10"
    picked = {part.system for part in kept}
    everything = Namespace(**{**vars(arguments), "system": None, "picked": picked})
    for name in picked:
        scored_by(bench, measure, arguments.dataset or "", name)
    found, pairs = [], dict.fromkeys((part.dataset, part.version_of) for part in kept)
    with cursor_of(bench, everything) as cursor:
        for dataset, system in pairs:
            own = [part for part in kept if (part.dataset, part.version_of) == (dataset, system)]
            history = figures.history(own, bench.store.part("hits", dataset, system))
            asked = {"datasets": [dataset], "systems": history["system"].tolist()}
            rows = history.merge(figures.scored(cursor, measure=measure, **asked), on="system")
            found.append(rows.assign(dataset=dataset, measure=measure))
    told = pd.concat(found, ignore_index=True)
    first = ["dataset", "system", "label"]
    return told[[*first, *told.columns.drop(first)]]

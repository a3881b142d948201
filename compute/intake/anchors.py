"""The anchor of a dataset: an earlier run, and the largest tolerated sum of losses since then."""

from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.result_identity import fingerprint
from compute.datasets import Dataset
from compute.recompute import run as recompute
from compute.store import damage, provenance, run_versions
from compute.store.store import Store

KIND = "anchor"


def of(store: Store, dataset: str) -> tuple[str, float] | None:
    """Return the current name of a dataset's anchor, and its margin; None if no run is marked as
    the anchor. Raises Missing if that run is no longer stored."""
    if (part := store.part(KIND, dataset)) is None:
        return None
    (row,) = recompute.read(part).to_dict("records")
    # A run that was replaced is a version now; the same run may have been imported again.
    runs = store.parts("hits", dataset, picked=None)
    runs = [run for run in runs if row["of"] in (run.system, run.version_of)]
    for run in sorted(runs, key=run_versions.published):
        if run.fingerprint == row["fingerprint"]:
            return run.system, row["margin"]
    raise Missing(
        f"the run of {row['of']} that is the anchor of {dataset} is no longer stored: mark another"
        f" (python -m compute anchor SYSTEM --dataset {dataset}), or remove it (--remove)"
    )


def mark(store: Store, dataset: Dataset, system: str, margin: float) -> None:
    """Make a stored run the anchor of a dataset, or remove the anchor if `system` is empty."""
    dataset.refuse_parts()
    with store.publishing(f"anchor of {dataset.name}") as parts:
        if not system:
            parts.remove(KIND, dataset.name)
            return
        hits = damage.run(store, dataset.name, system)
        row = {"of": hits.version_of or system, "margin": margin, "fingerprint": hits.fingerprint}
        words = ["anchor", system, "--dataset", dataset.name, "--margin", f"{margin:g}"]
        of = {"dataset": dataset.name, "fingerprint": fingerprint(KIND, [], **row)}
        parts.add(KIND, DataFrame([row]), provenance=provenance.record(words, 0), **of)

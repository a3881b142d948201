"""Sentences for pages that say which data of a dataset are missing and how to get them."""

from collections.abc import Sequence

from pandas import DataFrame

from compute.datasets import Dataset
from compute.datasets.places import how_to_judge, how_to_run


def record(facts: DataFrame) -> Dataset:
    """Return the dataset in the only row of `facts`, a row of the table `datasets`."""
    row, known = facts.iloc[0].to_dict(), facts.notna().iloc[0].to_dict()
    return Dataset.from_record({str(name): row[name] if known[name] else None for name in row})


def without_judgements(name: str, *, judge: bool = True) -> str:
    """Say why nothing is scored on a user's dataset with runs and, if `judge`, what to do next."""
    how = f": {how_to_judge(name)}" * judge
    return f"{name} has no judgements yet, so nothing is scored{how}."


def without_texts(dataset: Dataset) -> str:
    """Say why ids are shown instead of texts, and how to get the texts."""
    if dataset.group == "own":
        return "No document texts are stored. Use “Add texts” to import them."
    return f"Texts are not shipped with Beirscope: {how_to_run(dataset, 'add-texts')}."


def without_runs(dataset: Dataset, *, is_loaded: bool = False, outdated: Sequence[str] = ()) -> str:
    """Say why nothing computed is shown, and how to compute it. `is_loaded`: documents are stored.
    `outdated`: systems whose runs are older than the dataset's present data."""
    if outdated:
        return (
            f"{', '.join(outdated)}: left out because the data of {dataset.title} were replaced"
            " after these runs. Rerun them on the Jobs page, or import them again."
        )
    if not dataset.has_split:
        return f"{dataset.title} has only published figures: BEIR has no split to run on."
    how = how_to_run(dataset)
    # The lengths of PyDocs documents are shipped without the documents.
    if is_loaded and dataset.group != "PyDocs":
        how = f"start systems on the Jobs page, or python -m compute run bm25 {dataset.name}"
    elif dataset.group == "own":
        how = f"it has no texts; python -m compute import-run FILE --dataset {dataset.name}"
    return f"Nothing has been computed on {dataset.title} yet: {how}."

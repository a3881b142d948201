"""Folders of this machine that may hold collections, and the next step if none is found."""

from pathlib import Path

from compute.base.settings import Settings
from compute.datasets.catalogue import Dataset


def folders(settings: Settings) -> list[Path]:
    """Return the folder that the settings name, if any, and then the home's folder of datasets."""
    named = [settings.datasets] if settings.datasets else []
    return [*named, settings.home / "datasets"]


def place(name: str, settings: Settings) -> Path | None:
    """Return the first archive or folder of this collection; None if there is none."""
    paths = (path for f in folders(settings) for path in (f / f"{name}.zip", f / name))
    return next((path for path in paths if path.exists()), None)


def is_fetched(dataset: Dataset) -> bool:
    """Return whether `fetch` can download the dataset's archive."""
    return bool(dataset.archive) or dataset.group == "BEIR-PL"


def how_to_get(dataset: Dataset, settings: Settings) -> str:
    """Return a sentence on how to get a dataset that is not on this machine."""
    name = dataset.collection.partition("/")[0]
    into = f"the folder named by BEIRSCOPE_DATASETS, or into {settings.home / 'datasets'}"
    if not dataset.public:
        return (
            f"the licence of {dataset.title} forbids downloading its documents here: get them"
            f" from {dataset.homepage} and put them as {name}.zip or {name}/,"
            f" in the BEIR layout, into {into}"
        )
    origin = f" ({dataset.archive})" if dataset.archive else ", in the BEIR layout,"
    by_hand = f"put the archive {name}.zip{origin} into {into}"
    if not is_fetched(dataset):
        return f"{dataset.title} is not here: {by_hand}"
    return f"{dataset.title} is not here: python -m compute fetch {name} fetches it; or {by_hand}"


def how_to_run(dataset: Dataset, verb: str = "run bm25") -> str:
    """Return the command for a first run, or for `verb`; an archive must first be fetched."""
    command = f"python -m compute {verb} {dataset.name}"
    if dataset.group == "PyDocs":
        return f"{command} reads it from the installed library"
    name = dataset.collection.partition("/")[0]
    folder = "the folder that $BEIRSCOPE_DATASETS names"
    if not dataset.public:
        return (
            f"its documents cannot be downloaded; get them from {dataset.homepage}, put them in"
            f" the BEIR layout into {folder}/{name}, then run {command}"
        )
    if is_fetched(dataset):
        return (
            f"python -m compute fetch {name} downloads {name}.zip (so does the Data page, under"
            f" Fetch; or put it into {folder} by hand), then {command}"
        )
    return f"put {name}.zip in the BEIR layout into {folder}, then {command}"


def how_to_judge(name: str) -> str:
    """Return a clause, to follow a colon, on how to get judgements for a dataset."""
    return (
        "judge documents on the Judge page, or add qrels (Data page, or python -m compute"
        f" import-dataset --qrels FILE --name {name})"
    )

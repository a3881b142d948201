"""The origin of a collection: its files, their content, and the command that reads it again."""

from compute.base.files import digest
from compute.datasets.catalogue import DATASETS, Dataset
from compute.datasets.reading import Source

UPLOADED = "Uploaded as "
"""Beginning of an uploaded dataset's note, which lists the original names of its files."""


def names(dataset: Dataset, origin: Source) -> list[str]:
    """Return the original names of a source's files, in order."""
    found = [file.name for file in origin.read_from()]
    called = dataset.note.removeprefix(UPLOADED).removesuffix(".").split(", ")
    uploaded = dataset.note.startswith(UPLOADED) and len(called) == len(found)
    return called if uploaded else found


def digests(origin: Source) -> dict[str, str]:
    """Return the SHA-256 of a source's files by name; nothing for a library."""
    return {file.name: digest(file) for file in origin.read_from() if file.is_file()}


def command(dataset: Dataset, origin: Source) -> list[str]:
    """Return the command that reads the dataset again, with file names but without folders."""
    if dataset.name in DATASETS:
        return ["run", "bm25", dataset.name]
    named = origin.words(names(dataset, origin), dataset.split)
    options = ["--language", dataset.language] * (dataset.language != "en")
    options += ["--drop-self"] * dataset.drop_self
    options += ["--level", str(dataset.level)] * (dataset.level > 1)
    return ["import-dataset", *named, "--name", dataset.name, *options]

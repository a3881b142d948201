"""Origin of a collection: its files, their content, and the command to read it again."""

from compute.base.files import digest
from compute.datasets.catalogue import DATASETS, Dataset
from compute.datasets.reading import Source

UPLOADED = "Uploaded as "
"""Beginning of the note on an uploaded dataset, whose files had other names."""


def names(dataset: Dataset, origin: Source) -> list[str]:
    """Original names of a source's files, in order."""
    found = [file.name for file in origin.read_from()]
    called = dataset.note.removeprefix(UPLOADED).removesuffix(".").split(", ")
    uploaded = dataset.note.startswith(UPLOADED) and len(called) == len(found)
    return called if uploaded else found


def digests(origin: Source) -> dict[str, str]:
    """The SHA-256 of the files of a source, by name; a library has none."""
    return {file.name: digest(file) for file in origin.read_from() if file.is_file()}


def command(dataset: Dataset, origin: Source) -> list[str]:
    """The command that reads the dataset again, with file names regardless of their folder."""
    if dataset.name in DATASETS:
        return ["run", "bm25", dataset.name]
    named = origin.words(names(dataset, origin), dataset.split)
    options = ["--language", dataset.language] * (dataset.language != "en")
    options += ["--drop-self"] * dataset.drop_self
    options += ["--level", str(dataset.level)] * (dataset.level > 1)
    return ["import-dataset", *named, "--name", dataset.name, *options]

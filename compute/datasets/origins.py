"""Where a collection was read from: its files, their content, the command that reads it again."""

from pathlib import Path

from compute.base.files import digest
from compute.datasets.catalogue import DATASETS, Dataset
from compute.datasets.reading import BeirSource, QrelsOnly, Source

UPLOADED = "Uploaded as "
"""How the note begins of a dataset that came through the dashboard, where its files had other names
than on the disk."""


def names(dataset: Dataset, origin: Source) -> list[str]:
    """What people call the files of a source, in its order."""
    found = [file.name for file in _files(origin)]
    called = dataset.note.removeprefix(UPLOADED).removesuffix(".").split(", ")
    uploaded = dataset.note.startswith(UPLOADED) and len(called) == len(found)
    return called if uploaded else found


def digests(origin: Source) -> dict[str, str]:
    """The SHA-256 of the files that a source is read from, by their names; a library has none."""
    return {file.name: digest(file) for file in _files(origin) if file.is_file()}


def command(dataset: Dataset, origin: Source) -> list[str]:
    """The command that reads the dataset again; files by their names, wherever they lie."""
    if dataset.name in DATASETS:
        return ["run", "bm25", dataset.name]
    files = names(dataset, origin)
    if isinstance(origin, QrelsOnly):
        named = ["--qrels", files[0], *(["--queries", files[1]] if len(files) > 1 else [])]
        named += origin.how.words()
    else:
        folder = origin.files.path if isinstance(origin, BeirSource) else Path()
        named = [files[0] if folder.is_file() else folder.name, "--split", dataset.split]
    options = ["--language", dataset.language] * (dataset.language != "en")
    options += ["--drop-self"] * dataset.drop_self
    options += ["--level", str(dataset.level)] * (dataset.level > 1)
    return ["import-dataset", *named, "--name", dataset.name, *options]


def _files(origin: Source) -> list[Path]:
    if isinstance(origin, QrelsOnly):
        # Texts of queries beside them are stamped as the judgements are.
        texts = (origin.identity() or {}).get("queries", {})
        beside = [Path(texts["path"]) / file["name"] for file in texts.get("files", ())]
        return [origin.path, *beside]
    if isinstance(origin, BeirSource):
        path = origin.files.path
        inner = [path / name for name in (origin.corpus, origin.query_file, origin.qrels)]
        return [path] if path.is_file() else inner
    return []

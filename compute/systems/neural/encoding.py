"""Encodes a corpus in batches of similar length, into files that survive an interruption. A corpus
is divided into shards of `SHARD` documents, in file order. The documents of a shard are sorted by
length to limit padding, and stored atomically in file order as `<name>-000000.npy`. The files are
read through memory maps."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import parquet_files
from compute.base.files import written_aside
from compute.systems.searcher import Progress, Span

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

SHARD = 2048
"""Number of documents in one file; an interrupted encoding loses at most this many."""
SLICE = 128
"""Number of texts given to a model at once, and between two reports of progress."""

Encode = Callable[[list[Any]], Iterable[Any]]
"""A function from texts to an array for each, in order."""
Pack = Callable[[list[Any]], Mapping[str, np.ndarray]]
"""A function from a shard's encoded texts to its stored arrays, by name; "" is written last."""


def joined(title: str, text: str) -> str:
    """Return a document's text for most systems: title, a space and text, without surrounding
    spaces, since RoBERTa's tokenizer reads a different first word after a leading space."""
    return f"{title} {text}".strip()


LOADING = "loading the model"
"""Progress message without numbers."""


def vectors(rows: list[Any]) -> dict[str, np.ndarray]:
    """Pack one vector per document: an array (documents, dimensions)."""
    return {"": np.stack(rows)}


def matrices(rows: list[Any]) -> dict[str, np.ndarray]:
    """Pack many vectors per document: "" (all vectors, dimensions), and "count" per document."""
    return {"": np.concatenate(rows), "count": np.array([len(row) for row in rows], np.int64)}


def in_shards(
    documents: Path,
    folder: Path,
    name: str,
    load: Callable[[], Encode],
    progress: Progress,
    *,
    join: Callable[[str, str], Any] = joined,
    pack: Pack = vectors,
    span: Span | None = None,
) -> int:
    """Encode a Parquet file (doc_id, title, text) into `folder`; returns the number of documents.
    `load` returns the encoder. It is called once, and reported as LOADING, if anything is left to
    do: finished shards are kept, and if the shards are merged, nothing is left. An array that
    `pack` names `count` is in `<name>.count-000000.npy`. The document ids are in `ids.parquet`.
    With a `span`, which must begin at the start of a shard, only the span's shards are written,
    without ids, and named as in the complete index."""
    file = parquet_files.opened(documents)
    if span is None:
        ids = file.read(columns=["doc_id"])["doc_id"].cast(pa.large_string())
        pq.write_table(pa.table({"doc_id": ids}), folder / "ids.parquet")
    start, end = span or (0, file.metadata.num_rows)
    total, rest = end - start, records(file, start)
    if (folder / f"{name}.npy").exists():
        return total
    encode = None
    for first in range(start, end, SHARD):
        shard, number = list(islice(rest, min(SHARD, end - first))), first // SHARD
        if not _file(folder, name, "", number).exists():
            if encode is None:
                progress(0, 0, LOADING)
                encode = load()
                # Without this, the first report would come after a slice, perhaps in half a minute.
                progress(first - start, total, "documents")
            lengths = [len(title) + len(text) for title, text in shard]
            texts = [join(title, text) for title, text in shard]
            rows = by_length(encode, texts, after(progress, first - start, total), lengths)
            _save(folder, name, number, pack(rows))
        progress(first - start + len(shard), total, "documents")
    return total


def whole_shards(documents: int, shard: int = SHARD) -> int:
    """Round a number of documents up to complete shards."""
    return -(-documents // shard) * shard


def by_length(
    encode: Encode,
    texts: Sequence[Any],
    report: Callable[[int], None] = lambda done: None,
    lengths: Sequence[int] | None = None,
) -> list[Any]:
    """Encode texts in batches of similar `lengths` (by default, those of the texts themselves);
    returns the results in the order of the texts."""
    rows: list[Any] = [None] * len(texts)
    order = np.argsort(lengths or [len(text) for text in texts], kind="stable").tolist()
    for start in range(0, len(order), SLICE):
        places = order[start : start + SLICE]
        found = encode([texts[place] for place in places])
        for place, row in zip(places, found, strict=True):
            rows[place] = row
        report(start + len(places))
    return rows


def records(file: pq.ParquetFile, start: int = 0) -> Iterator[tuple[str, str]]:
    """Yield title and text of each document, in file order, from position `start` on."""
    groups, skipped = rest_of(file, start)
    for batch in file.iter_batches(SHARD, row_groups=groups, columns=["title", "text"]):
        rest = batch.slice(min(skipped, len(batch)))
        skipped = max(skipped - len(batch), 0)
        for title, text in zip(*(column.to_pylist() for column in rest.columns), strict=True):
            yield title or "", text or ""


def rest_of(file: pq.ParquetFile, start: int) -> tuple[list[int], int]:
    """Return the row groups from that with row `start` on, and how many of its rows to skip."""
    about = file.metadata
    ends = np.cumsum([about.row_group(number).num_rows for number in range(about.num_row_groups)])
    first = int(np.searchsorted(ends, start, side="right"))
    before = int(ends[first - 1]) if first else 0
    return list(range(first, len(ends))), start - before


class Shards(Sequence[np.ndarray]):
    """Stored arrays, which are memory-mapped on request, so that not all are open at once."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        # The limit of open files is often 1,024.
        self._map = lru_cache(maxsize=256)(lambda place: np.load(files[place], mmap_mode="r"))

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, place: Any) -> Any:
        return self._map(place)


def read(folder: Path, name: str, array: str = "") -> Sequence[np.ndarray]:
    """Return the stored arrays of all shards in file order, or the array merged from them."""
    start = f"{name}.{array}" if array else name
    merged = folder / f"{start}.npy"
    return Shards([merged] if merged.exists() else sorted(folder.glob(f"{start}-*.npy")))


def merge(folder: Path, name: str) -> None:
    """Merge the vectors of all shards into one file, `<name>.npy`, and remove the shards. An
    interruption loses nothing. Without shards, nothing is done."""
    target = folder / f"{name}.npy"
    shards = Shards(sorted(folder.glob(f"{name}-*.npy")))
    if not target.exists() and shards:
        shape = (sum(len(shard) for shard in shards), *shards[0].shape[1:])
        kind = np.lib.format.dtype_to_descr(shards[0].dtype)
        # The file is not memory-mapped, since mapped pages count as this process's memory.
        with written_aside(target, alone=True) as whole:
            about = {"descr": kind, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(whole, about)
            for file in shards.files:
                whole.write(np.load(file).data)
    for file in shards.files:
        file.unlink()


def read_ids(folder: Path) -> pa.Array:
    """Return the document ids, in the order of the rows of all shards."""
    return pq.ParquetFile(folder / "ids.parquet").read()["doc_id"].combine_chunks()


def hits(
    folder: Path, query_ids: np.ndarray, places: np.ndarray, scores: np.ndarray
) -> "DataFrame":
    """Return hits as query_id, doc_id, score; `places` has the positions of documents among
    `read_ids`."""
    # This is imported late, since the catalogue of systems must not load pandas.
    from pandas import DataFrame, Series

    return DataFrame(
        {
            "query_id": Series(query_ids, dtype="str"),
            "doc_id": read_ids(folder).take(pa.array(places)).to_pandas(),
            "score": scores.astype(np.float64),
        }
    )


def after(
    progress: Progress, first: int, total: int, unit: str = "documents"
) -> Callable[[int], None]:
    """Return a report of progress for `by_length`, whose texts come after `first` others."""
    return lambda done: progress(first + done, total, unit)


def _file(folder: Path, name: str, array: str, number: int) -> Path:
    return folder / f"{name}{'.' if array else ''}{array}-{number:06}.npy"


def _save(folder: Path, name: str, number: int, arrays: Mapping[str, np.ndarray]) -> None:
    # The unnamed array comes last: its existence shows that the shard is complete.
    """Write the arrays of a shard."""
    for array in sorted(arrays, reverse=True):
        with written_aside(_file(folder, name, array, number), alone=True) as file:
            _put(file, arrays[array])


def _put(file: BinaryIO, array: np.ndarray) -> None:
    """Write an array as np.save does, whose own error does not mention a full disk."""
    whole = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
    file.write(whole.data)

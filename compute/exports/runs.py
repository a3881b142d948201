"""Writes stored runs as files, in TREC's format or JSON."""

import contextlib
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute import systems
from compute.base import scratch
from compute.base.errors import Conflict, WrongInput
from compute.evaluate import runs
from compute.exports import json_runs
from compute.store import damage, repeats
from compute.store.store import Store


@dataclass(frozen=True)
class Written:
    """A written run file, and the numbers of its hits and ranks."""

    file: Path
    hits: int
    depth: int
    """Maximum number of ranks per query."""
    further: int = 0
    """Number of the system's other runs, which are not in the file."""

    def __str__(self) -> str:
        first = f" (the first of {self.further + 1} runs)" * bool(self.further)
        hits = f"{self.hits:,} hits, the first {self.depth:,} of each query"
        return f"wrote {hits}, to {self.file}{first}"


def export_run(store: Store, dataset: str, system: str, file: Path, form: str = "trec") -> Written:
    """Write the stored run of a system on a dataset; `.gz` or `.zst` in the name compresses it.
    Formats other than `trec` are those of `json_runs`. By trec_eval's rule, the file gives the same
    ranking, including ties; its tag is the system's name. The file is written completely or not at
    all. Raises Missing for a run that is not stored, Conflict for a file that exists, Unavailable
    for a damaged run, and WrongInput for a missing folder or an id that space-separated columns
    cannot hold."""
    if not store.parts("hits", dataset, system):
        with contextlib.suppress(WrongInput):  # A user's name for an imported run.
            system = systems.system(system).name
    part = damage.run(store, dataset, system)
    if file.exists():
        raise Conflict(f"{file} exists: remove it or name another file")
    if not file.parent.is_dir():
        raise WrongInput(f"no folder {file.parent}: create it first")
    columns = ["query_id", "doc_id", "rank", "score"]
    run = pq.read_table(part.path, columns=columns).to_pandas()
    # The file's ending determines the compression.
    aside = file.with_name(f".{uuid.uuid4().hex}{file.suffix}")
    try:
        if form == "trec":
            runs.write_trec(run, system, aside)
        else:
            _write_json(store, run, (dataset, system), form, aside)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)
    about, further = part.provenance, len(repeats.recorded(repeats.of(store, part)))
    depth = about.get("cut") or about.get("depth") or int(run["rank"].max())
    return Written(file, len(run), depth, further)


def _write_json(store: Store, run: DataFrame, of: tuple[str, str], form: str, file: Path) -> None:
    """Write a run in a format of `json_runs`."""
    queries, judged = (
        pq.read_table(damage.wanted(store, kind, of[0]).path).to_pandas()
        for kind in ("queries", "judgements")
    )
    split = of[0].partition("/")[2] or "test"
    text = json_runs.written(run, form, of[1], split, queries, judged)
    with pa.output_stream(str(file), compression="detect") as out:
        out.write(text.encode())


def run_file(store: Store, dataset: str, system: str, ending: str = ".gz") -> bytes:
    """Return the content of a compressed run file, for a download."""
    with scratch.folder(store.home, "run-") as folder:
        written = export_run(store, dataset, system, folder / f"run{ending}")
        return written.file.read_bytes()


def file_name(dataset: str, system: str, ending: str = ".gz") -> str:
    """Return a file name for the run, with characters that every file system accepts."""
    plain = re.sub(r"[^\w.+=-]+", "-", f"{dataset}.{system}", flags=re.ASCII)
    return f"{re.sub(r'[.]+', '.', plain).strip('-.')[:120]}.run{ending}"

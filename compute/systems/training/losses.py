"""The losses of a training, in a growing file that pages read while the training runs."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pandas import DataFrame

from compute.base import json_files
from compute.base.files import make_folder, written_aside
from compute.base.settings import Settings
from compute.store.loading import Progress

POINTS = 1_000
"""Maximum number of rows per training; a row is the mean over the steps since the previous row."""
_LOSSES, _ABOUT = "losses.jsonl", "about.json"


def folder(settings: Settings, fingerprint: str) -> Path:
    """Return a training's folder, with checkpoints and losses until the model is published."""
    return settings.home / "training" / fingerprint


def begin(place: Path, about: Mapping[str, Any]) -> None:
    """Record in a folder to which training it belongs."""
    make_folder(place)
    with written_aside(place / _ABOUT) as file:
        file.write(json.dumps(dict(about)).encode())


def under_way(settings: Settings, system: str) -> DataFrame:
    """Return the losses of a system's running training: step, total, seconds, name, value."""
    for file in sorted((settings.home / "training").glob(f"*/{_ABOUT}")):
        try:
            found = json_files.parsed(file.read_text("utf-8"))["system"] == system
        except (OSError, ValueError, KeyError):  # the file is being removed or rewritten
            continue
        if found:
            return frame(rows(file.parent))
    return frame([])


def frame(found: list[dict[str, Any]]) -> DataFrame:
    """Turn the rows of a file into one row for each loss: step, total, seconds, name, value."""
    columns = ["step", "total", "seconds", "name", "value"]
    long = [
        (row["step"], row["total"], row["seconds"], name, value)
        for row in found
        for name, value in row["losses"].items()
    ]
    kinds = {"step": "int64", "total": "int64", "seconds": "float64", "value": "float64"}
    return DataFrame(long, columns=columns).astype(kinds | {"name": "str"})


def rows(place: Path) -> list[dict[str, Any]]:
    """Read the losses written so far; an incomplete last line is skipped."""
    try:
        lines = (place / _LOSSES).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(json_files.parsed(line))
        except ValueError:
            break
    return found


class Curve:
    """Writes the losses as they are reported, and reports the progress. A training that resumes
    from a checkpoint repeats some steps, whose old rows are removed."""

    def __init__(self, place: Path, progress: Progress) -> None:
        self._file, self._progress = place / _LOSSES, progress
        self._before = rows(place)
        self._begun = False
        self._held: dict[str, list[float]] = {}
        self._start = time.perf_counter()
        self._base = 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds of training, including all interrupted calls."""
        return self._base + time.perf_counter() - self._start

    def __call__(self, step: int, total: int, losses: Mapping[str, float]) -> None:
        """Record the losses after a step. This must be called after every step."""
        if not self._begun:
            self._go_on(step)
        for name, value in losses.items():
            self._held.setdefault(name, []).append(float(value))
        if step % -(-total // POINTS) == 0 or step == total:
            means = {name: sum(values) / len(values) for name, values in self._held.items()}
            row = {"step": step, "total": total, "seconds": round(self.seconds, 3)}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | {"losses": means}) + "\n")
            self._held = {}
        self._progress(step, total, "steps")

    def _go_on(self, step: int) -> None:
        """Remove old rows from this step on, and continue their count of seconds."""
        self._begun = True
        kept = [row for row in self._before if row["step"] < step]
        self._base = kept[-1]["seconds"] if kept else 0.0
        with written_aside(self._file) as file:
            file.writelines(f"{json.dumps(row)}\n".encode() for row in kept)

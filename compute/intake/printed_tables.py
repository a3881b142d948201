"""Tables of means from elsewhere, such as a paper's or MTEB's: printed scores, without runs."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean

from pandas import DataFrame

from compute.base import json_files
from compute.base.errors import Conflict, WrongInput
from compute.base.files import digest
from compute.base.result_identity import fingerprint
from compute.base.words import counted, several, shown
from compute.datasets import DATASETS, Dataset, compressed, trec, unpacked_size
from compute.datasets.published import IMPORTED
from compute.datasets.records import reads_as_number
from compute.evaluate import measures
from compute.judgements.exchange import csv_rows
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Part

KIND, COLUMNS = "printed", ["of", "printed", "measure", "value"]
Cell = tuple[str, str, str, str, str]
"""System, dataset, measure and score as written, and the place in the file."""
MOST_NAMED, LONGEST = 6, 60
SYSTEM, DATASET, MEASURE, SCORE = "system", "dataset", "measure", "score"
_HEADS = {"model": SYSTEM, "task": DATASET, "corpus": DATASET, "metric": MEASURE, "value": SCORE}
"""Other names of the columns."""
_AVERAGE = re.compile(r"(avg|average|mean)\b", re.IGNORECASE)
_EMPTY = {"", "-", "–", "—", "n/a", "na", "nan"}


def import_file(
    bench: Bench, path: Path, name: str, measure: str, *, percent: bool, replace: bool
) -> tuple[Part, list[str], bool]:
    """Store a table (`read`) as a board of its own. Returns its part, remarks, and whether it is
    new. Raises Conflict for another table of this name unless `replace`, and WrongInput."""
    start, source = time.perf_counter(), IMPORTED + name
    if not (name.strip() == name and name.isprintable() and 0 < len(name) <= LONGEST):
        told = f"write at most {LONGEST} characters, without a space at an end"
        raise WrongInput(f"{shown(name)} is not a valid name: {told}")
    unpacked_size.require(path, bench.settings.home)
    rows, told = read(path, measure, percent=percent, own=own_datasets(bench.store))
    mark = fingerprint(KIND, [], rows=sorted(rows.to_numpy().tolist()))
    words = ["import-table", path.name, "--name", name]
    words += ["--measure", measure] * bool(measure) + ["--percent"] * percent
    about = {"file": path.name, "sha256": digest(path), "percent": percent}
    made = provenance.record(words, time.perf_counter() - start, **about)
    made["paper"] = f"{name} (imported from {path.name} on {made['date'][:10]})"
    with bench.store.alone("import"):
        old = bench.store.part(KIND, source)
        if old and old.fingerprint == mark:
            return old, told, False
        if old and not replace:
            raise Conflict(f"{name} is another table already: choose another --name, or --replace")
        with bench.store.publishing(f"import table {name}") as parts:
            part = parts.add(KIND, rows, dataset=source, fingerprint=mark, provenance=made)
    return part, told, True


def read(
    path: Path, measure: str, *, percent: bool, own: Mapping[str, Dataset] | None = None
) -> tuple[DataFrame, list[str]]:
    """Return the scores (COLUMNS) in a CSV, a TSV or MTEB's results in JSON, and remarks. The first
    line names the columns. A long table has system, dataset, score and perhaps measure. A wide one
    has systems in rows and datasets in columns or, if its first column is `dataset`, the reverse.
    Scores are fractions or, with `percent`, divided by 100. Averages and empty cells are left out.
    Names of our datasets and of `own` are recognised in any spelling. Raises WrongInput with file
    and line, or with MTEB's task."""
    is_json = next(iter(trec.lines(path, 1)), "").lstrip()[:1] in ("{", "[")
    measure = _measure(measure, str(path)) if measure or is_json else ""
    given = [*(_of_mteb if is_json else _of_lines)(path, measure)]
    averages = {name for cell in given for name in cell[:2] if _AVERAGE.match(name)}
    cells = [cell for cell in given if averages.isdisjoint(cell[:2])]
    filled = [cell for cell in cells if cell[3].casefold() not in _EMPTY]
    datasets = {**(own or {}), **DATASETS}.values()
    known = {_plain(name): row.name for row in datasets for name in (row.title, row.name)}
    found = [
        (known.get(_plain(dataset), dataset), system, by, _value(score, place, percent=percent))
        for system, dataset, by, score, place in filled
    ]
    rows = DataFrame(found, columns=COLUMNS)
    _check(rows, filled, path, percent=percent)
    new = [name for name in dict.fromkeys(rows["of"]) if name not in known.values()]
    empty, left = len(cells) - len(filled), several(sorted(averages), MOST_NAMED)
    told = [f"scores read as {'percent, divided by 100' if percent else 'fractions, 0 to 1'}"]
    told += [f"left out: {counted(empty, 'empty cell')}"] * bool(empty)
    told += [f"left out, since it is an average: {left}"] * bool(left)
    told += [f"unknown here, shown by name: {several(new, MOST_NAMED, 'dataset')}"] * bool(new)
    return rows, told


def _check(rows: DataFrame, cells: Sequence[Cell], path: Path, *, percent: bool) -> None:
    """Raise WrongInput if there is no score, a score without names or given twice, or if scores in
    percent are all at most 1."""
    for system, dataset, *_, place in cells:
        if not system or not dataset or reads_as_number(dataset) or reads_as_number(system):
            told = f"{shown(system)} on {shown(dataset)} has no name: name systems and datasets"
            raise WrongInput(f"{place}: {told}")
    if (twice := rows.duplicated(COLUMNS[:3]).to_numpy()).any():
        place = int(twice.argmax())
        of, system, by, _ = rows.iloc[place]
        told = f"{shown(system)} has another {by} on {shown(of)} above: keep one"
        raise WrongInput(f"{cells[place][4]}: {told}")
    if rows.empty:
        raise WrongInput(f"{path} contains no score: give a table of systems and datasets")
    if percent and rows["value"].max() <= 0.01:
        raise WrongInput(f"{path}: no score is above 1%: leave out --percent")


def _value(score: str, place: str, *, percent: bool) -> float:
    """Return a score as a fraction; `percent` says that all are in percent. Raises WrongInput."""
    per = 100 if percent or score.endswith("%") else 1
    try:
        value = float(score.removesuffix("%").replace("_", "no digit"))
    except ValueError:
        told = f"{shown(score)} is not a number: fix the cell, or leave it empty"
        raise WrongInput(f"{place}: {told}") from None
    if 0 <= value <= per:
        return value / per
    hint = "if the table is in percent, add --percent; otherwise " * (per == 1 < value <= 100)
    raise WrongInput(f"{place}: {shown(score)} is not between 0 and {per}: {hint}fix the cell")


@cache
def _measure(name: str, place: str) -> str:
    """Return our name of the measure. Raises WrongInput if it is unknown or empty."""
    if measures.is_measure(ours := measures.meant(name) or name):
        return ours
    told = f"no measure {shown(name)}" if name else "no column names the measure"
    raise WrongInput(f"{place}: {told}: give --measure, such as nDCG@10")


def _plain(name: str) -> str:
    """Return the letters and digits of a dataset's name, without the suffix of MTEB's tasks."""
    return re.sub(r"[\W_]", "", name.casefold()).removesuffix("retrieval")


def _of_lines(path: Path, measure: str) -> Iterator[Cell]:
    """Yield the cells of a CSV, long or wide; of a long one only those of a named measure."""
    head = next(iter(trec.lines(path, 1)), "")
    for place, row in csv_rows(path, (), max(",\t;", key=head.count)):
        named = [(name.strip(), cell.strip()) for name, cell in row.items()]
        of = {_HEADS.get(_plain(name), _plain(name)): cell for name, cell in named}
        if {SYSTEM, DATASET, SCORE} <= {*of}:
            by = _measure(of.get(MEASURE, measure), place)
            if by == (measure or by):
                yield of[SYSTEM], of[DATASET], by, of[SCORE], place
            continue
        by, is_dataset = _measure(measure, place), next(iter(of)) == DATASET
        for name, score in named[1:]:
            system, dataset = (name, named[0][1]) if is_dataset else (named[0][1], name)
            yield system, dataset, by, score, f"{place}, column {name}"


def _of_mteb(path: Path, measure: str) -> Iterator[Cell]:
    """Yield the cells of MTEB's results for tasks that have the measure: the means over each task's
    subsets. If a task has no split test, every split counts and is added to the dataset's name."""
    try:
        found = json_files.parsed(compressed.utf8(path))
        models = found if isinstance(found, list) else found.get("model_results", [found])
        for model in models:
            name = model["model_name"].strip()
            for task in model["task_results"]:
                for split, subsets in task["scores"].items():
                    key = next((key for key in subsets[0] if measures.meant(key) == measure), "")
                    if key and (split == "test" or "test" not in task["scores"]):
                        on = task["task_name"] + f" ({split})" * (split != "test")
                        score, place = fmean(one[key] for one in subsets), f"{path}, task {on}"
                        yield name, on, measure, str(score), place
    except ValueError as error:
        raise WrongInput(f"{path} begins like JSON but is not valid JSON: {error}") from None
    except (AttributeError, KeyError, TypeError):
        told = "it is JSON, but not MTEB's results of models: give a file with model_results, or"
        told += " with model_name and task_results, and a number for each score; or give a CSV"
        raise WrongInput(f"{path}: {told}") from None

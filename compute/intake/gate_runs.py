"""The baseline and the candidate of `gate`, from the store or from files. Nothing is stored."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from pandas import DataFrame, Series

from compute.base.errors import Missing, WrongInput
from compute.base.words import counted, near, shown
from compute.datasets import Dataset, dataset
from compute.datasets.places import how_to_judge
from compute.evaluate import holes, scored_measures
from compute.evaluate.distributions import spread_said
from compute.evaluate.measures import Measure, evaluate
from compute.evaluate.non_inferiority import COLUMNS, MEANS, OF_RUN, VERSION
from compute.intake import imports, query_labels
from compute.recompute import run as recompute
from compute.store import damage, freshness, repeats, run_versions
from compute.store.loading import Bench, Loaded
from compute.store.own_datasets import own_datasets
from compute.store.store import Part, Store

FIRST = 10
"""Minimum depth at which judged and unjudged documents are counted."""
DEEPEST = 100
"""Maximum depth for the joint range of two lists, whose time grows with the square of the depth."""
_ENDING = re.compile(r"(\.[A-Za-z]+)?(\.(gz|zst))?")
"""Matches what may follow the dataset in the name of a file in a folder: `scifact.run.gz`."""


class Given(NamedTuple):
    """A run, or the runs of one system on several datasets, as the user named it."""

    name: str
    path: Path | None
    """A file, or a folder with one file per dataset; None for a stored system."""


class _Stale(Missing):
    """Raised for a stored run whose inputs have changed."""


class _Side(NamedTuple):
    """The facts about a run on a dataset."""

    name: str
    values: Series
    """The value of each query that has one, by query_id."""
    top: DataFrame
    """query_id, doc_id, rank, down to the rank that is needed."""
    depth: int
    """Depth to which the run is stored or read."""
    remarks: list[str]
    runs: DataFrame = DataFrame()
    """If the system has several runs: the values by query_id, with a column for each run."""
    unanswered: Collection[str] = ()
    """Queries that at least one of the further runs does not answer."""


def given(store: Store, word: str) -> Given:
    """Return the run or system that an argument names. Raises WrongInput if both a path and a
    stored system have the name, and Missing if neither exists."""
    systems = {part.system for part in store.parts("hits", picked=None)}
    try:
        is_path = bool(word) and Path(word).exists()
    except OSError:  # the name is too long
        is_path = False
    if is_path and word in systems:
        raise WrongInput(
            f"{shown(word)} is a stored system and a path here: write ./{word} for the path, or"
            " start the command in another folder for the system"
        )
    if not is_path and word not in systems:
        raise Missing(
            f"{shown(word)} is neither an existing path nor a system with a stored run:"
            f" {near(word, systems)}give a run file, a folder of them, or a system listed by"
            " python -m compute scores"
        )
    return Given(word, Path(word) if is_path else None)


def file_for(path: Path, dataset: str, *, alone: bool) -> Path:
    """Return the run file of a dataset. A path to a file is accepted only if no other dataset is
    requested (`alone`); in a folder, the file named after the dataset counts, with any ending."""
    if not path.is_dir():
        if not alone:
            raise WrongInput(
                f"{path} is one file, which is a run on one dataset: for several (or one with"
                f" parts) name a folder with a file for each, such as {dataset}.run"
            )
        if not path.is_file():
            raise WrongInput(
                f"{path} is neither a file nor a folder: write the run to a file first"
            )
        return path
    files = [file for file in path.glob(f"{'*/' * dataset.count('/')}*") if file.is_file()]
    names = {file.relative_to(path).as_posix(): file for file in sorted(files)}
    found = [
        name
        for name in names
        if name.startswith(dataset) and _ENDING.fullmatch(name.removeprefix(dataset))
    ]
    if len(found) > 1:
        raise WrongInput(
            f"{path} has {len(found)} files for {dataset} ({', '.join(found)}): keep one"
        )
    if not found:
        there = ", ".join(list(names)[:5]) or "nothing"
        raise Missing(f"{path} has no file for {dataset}, such as {dataset}.run: there is {there}")
    return names[found[0]]


def compared(
    bench: Bench, row: Dataset, two: Sequence[Given], measure: Measure, *, alone: bool
) -> tuple[DataFrame, list[str]]:
    """Compare baseline and candidate on every query with an official judgement. Returns query_id,
    `non_inferiority.COLUMNS` and, where families are declared, `family`; and remarks on the runs.
    `alone` says that no other dataset is requested. Raises BeirscopeError for a run that is
    missing, stale, too shallow, or without judged documents at its top ranks."""
    frames, remarks = [], list[str]()
    own, parts = own_datasets(bench.store), row.parts or (row.name,)
    for part in parts:
        loaded = recompute.stored_dataset(bench.store, dataset(part, own))
        sides = [_side(bench, loaded, one, measure, alone and len(parts) == 1) for one in two]
        frames.append(_beside(sides, loaded, measure))
        families = query_labels.families(bench.store, part)
        if len(families):
            frames[-1]["family"] = _family(frames[-1], families)
        several = any(len(side.runs) for side in sides)
        for side, name in zip(sides, MEANS, strict=True):
            told = [*side.remarks, *_unanswered(frames[-1][f"holes_{name}"])]
            told += [_runs_said(side.runs)] * several
            remarks += [f"{side.name} on {part}: {one}" for one in told]
    whole = pd.concat(frames, ignore_index=True)
    if "family" in whole:
        # In a part without families, each query is its own family.
        whole["family"] = whole["family"].fillna(whole["part"] + "\nq" + whole["query_id"])
    return whole, list(dict.fromkeys(remarks))


def with_all(
    bench: Bench,
    row: Dataset,
    runs: Sequence[Given],
    candidate: Given,
    measure: Measure,
    alone: bool,
) -> tuple[DataFrame, list[str]]:
    """Return the rows of `compared` with each of several baselines, named in the column VERSION.
    Stale baselines are left out with a remark; if all are stale, raises Missing."""
    frames, remarks, stale = [], list[str](), list[Missing]()
    for one in runs:
        try:
            found, told = compared(bench, row, (one, candidate), measure, alone=alone)
            frames.append(found.assign(**{VERSION: one.name}))
            # With many versions, only remarks on the candidate are kept.
            own = f"{candidate.name} on " if len(runs) > 1 else ""
            remarks += [line for line in told if line.startswith(own)]
        except _Stale as error:
            stale.append(error)
    if not frames:
        raise stale[-1]
    remarks += [f"{len(stale)} of {len(runs)} left out: {stale[-1]}"] if stale else []
    return pd.concat(frames, ignore_index=True), list(dict.fromkeys(remarks))


def earlier(store: Store, row: Dataset, candidate: Given) -> list[Given]:
    """Return the earlier versions of a stored system, or of a version, that exist on every part of
    a dataset, the oldest first. Raises WrongInput for a run from a file, since its earlier trials
    left no version to correct for; and Missing if there is no earlier version."""
    system, found = candidate.name, []
    if candidate.path:
        raise WrongInput(
            f"--against best compares a stored system with its versions: import {system} first,"
            f" python -m compute import-run {system} --dataset {row.name} --as-version"
        )
    for part in row.parts or (row.name,):
        hits = damage.run(store, part, system)
        runs = run_versions.stored(store, part, hits.version_of or system)
        names = [run.system for run in runs]
        found.append(names[: names.index(system)] if hits.version_of else names)
    if not (before := [name for name in found[0] if all(name in names for names in found)]):
        raise Missing(
            f"{system} has no earlier version on {row.name}: import-run --as-version keeps one"
        )
    return [Given(name, None) for name in before]


def _family(rows: DataFrame, families: Series) -> Series:
    """Return the family of each row, or its query if it has none. The part is included, since
    families of different parts may have the same name."""
    own = rows["query_id"].map(families)
    return rows["part"] + ("\nf" + own).fillna("\nq" + rows["query_id"])


def _side(bench: Bench, loaded: Loaded, one: Given, measure: Measure, alone: bool) -> _Side:
    """Return the facts about a run on a dataset, from the store or from its file."""
    if one.path is None:
        return _stored(bench.store, loaded, one.name, measure)
    file = file_for(one.path, loaded.dataset.name, alone=alone)
    depth = bench.settings.depth
    if (measure.k or 1) > depth:
        raise WrongInput(
            f"{measure} needs more than the {depth:,} ranks that runs keep: choose a smaller k, or"
            " raise the setting depth"
        )
    run, remarks = imports.look_at(bench, loaded, file)
    judged, of = recompute.read(loaded.judgements), recompute.subtopics(loaded)
    scores = evaluate(run.batches(), judged, [str(measure)], depth=depth, subtopics=of)
    return _Side(one.name, _values(scores, measure), run.top(_cut(measure)), depth, remarks)


def _stored(store: Store, loaded: Loaded, system: str, measure: Measure) -> _Side:
    """Return the stored run of a system. Raises Missing, also for a stale one."""
    name = loaded.dataset.name
    on = sorted({part.dataset for part in store.parts("hits", system=system)})
    if name not in on:
        raise Missing(
            f"{system} has no run on {name}, but on {', '.join(on)}: import or compute one there"
        )
    if system in freshness.outdated(store.parts(picked=[system]), [name]):
        raise _Stale(
            f"{system} on {name} is stale, since its inputs have changed: python -m compute"
            f" rescore {name}, or rerun or reimport it"
        )
    hits, scores = (damage.wanted(store, kind, name, system) for kind in ("hits", "scores"))
    _refuse_other_corpus(hits, loaded)
    columns, first = ["query_id", "doc_id", "rank"], [("rank", "<=", _cut(measure))]
    top = pq.read_table(hits.path, columns=columns, filters=first).to_pandas()
    values = _values(recompute.read(scores), measure)
    side = _Side(system, values, top, scored_measures.kept(hits), [])
    further = repeats.of(store, hits)
    if further is None:
        return side
    by_run = recompute.read(damage.wanted(store, "run_scores", name, system))
    own = by_run[by_run["measure"] == str(measure)]
    lists, asked = (run["query_id"] for _, run in repeats.lists(further)), set(own["query_id"])
    lacking = set().union(*(asked - set(answered) for answered in lists))
    runs = own.pivot(index="query_id", columns="run", values="value")
    return side._replace(runs=runs, unanswered=lacking)


def _refuse_other_corpus(hits: Part, loaded: Loaded) -> None:
    """Raise for a run, kept as a version, that searched other documents than are stored now."""
    corpus = hits.provenance.get("run_version", {}).get("corpus")
    if corpus and corpus != (loaded.lengths and loaded.lengths.fingerprint):
        raise _Stale(
            f"{hits.system} on {hits.dataset} is stale, since it searched other documents than"
            " those stored now: compare with a run on today's documents"
        )


def _runs_said(runs: DataFrame) -> str:
    """Return a sentence on a system's several runs, or on its single run."""
    if not len(runs):
        return "one run: its run-to-run variance is unknown and left out"
    spread = spread_said(float(runs.mean().std()))
    return f"mean of {len(runs.columns)} runs, spread {spread}; the interval also covers these runs"


def _cut(measure: Measure) -> int:
    """Return the depth down to which a measure needs the ranks, between FIRST and DEEPEST."""
    return min(max(measure.k or FIRST, FIRST), DEEPEST)


def _values(scores: DataFrame, measure: Measure) -> Series:
    return scores[scores["measure"] == str(measure)].set_index("query_id")["value"]


def _beside(sides: Sequence[_Side], loaded: Loaded, measure: Measure) -> DataFrame:
    """Return the rows of `compared` for one part."""
    judgements, name = recompute.read(loaded.judgements), loaded.dataset.name
    if judgements.empty:
        raise WrongInput(f"no judgements of {name} yet, so no score: {how_to_judge(name)}")
    tops = [side.top.assign(system=name) for side, name in zip(sides, MEANS, strict=True)]
    # The candidate comes first, since its lead is computed.
    lists = holes.arrange(pd.concat(tops), judgements, _cut(measure), MEANS[::-1])
    _refuse_unjudged(lists, sides, name)
    shares = holes.hole_by_query(lists, min(measure.k or FIRST, lists.depth))
    found = DataFrame(index=pd.Index(lists.queries, name="query_id"))
    for name, side, share in zip(MEANS, sides, shares[::-1], strict=True):
        share = Series(share, found.index).mask(found.index.isin(list(side.unanswered)))
        found = found.assign(**{name: side.values, f"holes_{name}": share})
        found = found.join(side.runs.add_prefix(f"{name}{OF_RUN}"))
    # For several runs, the range would be that of the first run's list.
    single = not any(len(side.runs) for side in sides)
    least, most = _ends(lists, sides, measure) if single else (np.nan, np.nan)
    found = found.assign(part=loaded.dataset.name, least=least, most=most)
    runs = [name for name in found if OF_RUN in str(name)]
    return found.reset_index()[["query_id", *COLUMNS, *runs]]


def _unanswered(shares: Series) -> list[str]:
    """Return a remark on the number of queries answered, unless every query has hits."""
    n, answered = len(shares), int(shares.notna().sum())
    return [f"answers {answered:,} of {counted(n, 'query')} with judgements"] * (answered < n)


def _ends(
    lists: holes.Lists, sides: Sequence[_Side], measure: Measure
) -> tuple[Series | float, ...]:
    """Return the least and the most that the difference can be on each query; NaN if unknown."""
    deep = min(DEEPEST, *(side.depth for side in sides))
    if measure.formula.gain is None or measure.k is None or measure.k > deep:
        return np.nan, np.nan
    _, least, most = holes.by_query(lists, str(measure))
    return Series(least, lists.queries), Series(most, lists.queries)


def _refuse_unjudged(lists: holes.Lists, sides: Sequence[_Side], name: str) -> None:
    """Raise for a run on another corpus, which would score 0 and let any other run pass."""
    if not lists.judged.any():
        raise WrongInput(f"no judgement of {name} is above 0, so every score is 0: import others")
    judged = np.any(lists.filled & ~lists.holes, axis=(1, 2))
    for side, some in zip(sides, judged[::-1], strict=True):
        if not some:
            raise WrongInput(
                f"{side.name}: no document in its top {lists.depth} is judged on {name}. Is it"
                " a run on another dataset, or are ids spelled differently? For a file,"
                f" python -m compute check FILE --dataset {name} says more"
            )

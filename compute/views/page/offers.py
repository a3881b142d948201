"""Controls that several pages share, and the titles of datasets and systems."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pandas import DataFrame, Series

from compute.base.words import counted
from compute.datasets import DATASETS, Dataset
from compute.evaluate.measures import is_measure
from compute.store import freshness, run_versions
from compute.systems import SYSTEMS, System, learnt_from
from compute.views.page.ask import Ask
from compute.views.page.controls import Asked, Choice, Many, Switch
from compute.views.page.holders import Above, Row, Step, Steps
from compute.views.page.parts import Button, Link, Message, Note, Text
from compute.views.shared import catalogue, next_steps, query_slices
from compute.views.shared.query_slices import Kind


def dataset_titles(ask: Ask) -> dict[str, str]:
    return unique_titles(ask(catalogue.datasets), "dataset")


def system_titles(ask: Ask) -> dict[str, str]:
    """Return the title of each system and each superseded version by name."""
    named = unique_titles(ask(catalogue.systems), "system")
    kept = {part.system: part.version_of for part in ask.versions()}
    return named | {name: run_versions.title(named.get(of, of), name) for name, of in kept.items()}


def weights(ask: Ask) -> dict[str, str]:
    """Return the key of each dataset's query weights; if all parts have one, their keys."""
    labels = [part for part in ask.parts() if part.kind == "query_labels" and not part.system]
    keys = {part.dataset: str(part.provenance.get("weight", "")) for part in labels}
    keys = {name: key for name, key in keys.items() if key}
    parts = {name: of.parts for name, of in DATASETS.items() if of.parts and {*of.parts} <= {*keys}}
    whole = {name: ", ".join(sorted({keys[part] for part in of})) for name, of in parts.items()}
    return keys | whole


def baseline(ask: Ask, dataset: str) -> str:
    """Return the baseline system stored with a dataset; empty if there is none."""
    labels = (part for part in ask.parts() if part.kind == "query_labels" and not part.system)
    return next((of.provenance.get("baseline", "") for of in labels if of.dataset == dataset), "")


def unique_titles(rows: DataFrame, named: str) -> dict[str, str]:
    """Return the title of each row by the name in column `named`; equal titles include the name."""
    pairs = list(zip(rows[named], rows["title"], strict=True))
    times = Counter(title for _, title in pairs)
    return {name: of if of == name or times[of] < 2 else f"{of} ({name})" for name, of in pairs}


def usual_pair(ask: Ask, known: Sequence[str], dataset: str) -> tuple[str, str]:
    """Return the default systems by official scores; those trained on the dataset come last."""
    leading, of = ask(catalogue.leading, added=False, dataset=dataset), dataset.partition("/")[0]
    learnt = {
        name: of in {one.partition("/")[0] for one in learnt_from(name, {})}
        for name in leading["system"]
    }
    return first_pair(known, sorted(learnt, key=learnt.__getitem__))


def first_pair(systems: Sequence[str], leading: Sequence[str] = ()) -> tuple[str, str]:
    """Return the first two of `leading` (best first) that are among these systems of a dataset. If
    there are fewer than two: BM25, if available, and the last system."""
    best = [system for system in leading if system in systems][:2]
    if len(best) == 2:
        return best[0], best[1]
    a = "bm25" if "bm25" in systems else systems[0]
    others = [system for system in systems if system != a]
    return a, others[-1] if others else a


def with_versions(ask: Ask, known: Sequence[str], datasets: Collection[str]) -> list[str]:
    """Return the systems, each followed by its superseded versions on these datasets."""
    kept: dict[str, list[str]] = {}
    for part in reversed(ask.versions(list(datasets))):
        kept.setdefault(part.version_of, []).append(part.system)
    every = [name for one in known for name in (one, *kept.get(one, ()))]
    return list(dict.fromkeys(every))


def told(known: Sequence[str]) -> list[str]:
    """Describe each lexical system, whose title is ambiguous, by its settings and tables."""
    rows = [SYSTEMS[name] for name in known if name in SYSTEMS]
    lines = {
        row.title: "; ".join([*row.settings.split("; ")[:3], *_printed(row)])
        for row in rows
        if row.family == "lexical"
    }
    return [f"{one}: {how}" for one, how in lines.items()]


def _printed(row: System) -> list[str]:
    """Return a phrase on the tables that print a system, in a list; empty if none does."""
    return [f"printed in {row.published_in.replace('; ', ', ')}"] if row.published_in else []


def systems(ask: Ask, known: Sequence[str], noun: str, datasets: Collection[str] = ()) -> Steps:
    """Yield a picker of systems and return the chosen ones in the order of `known`, or all if none
    is chosen. It also offers their superseded versions on `datasets`."""
    chosen = yield Many(
        "systems",
        "Systems",
        with_versions(ask, known, datasets),
        noun=noun,
        titles=system_titles(ask),
        told=told(known),
        width=330,
    )
    return [name for name in known if name in chosen] or list(known)


def has_own(ask: Ask) -> bool:
    """Return true if a scored run, or the dataset of one, was imported."""
    return any(
        part.kind == "scores"
        and part.rows > 0
        and (part.dataset not in DATASETS or part.provenance.get("imported"))
        for part in ask.parts()
    )


def to_score(name: str) -> str:
    """Say how to score stored runs by a measure that is not offered; empty for other words."""
    if not is_measure(name):
        return ""
    command = f"python -m compute rescore --measure {shlex.quote(name)}"
    return f"To score the stored runs by it, run {command}"


def record(ask: Ask, dataset: str) -> Dataset:
    """Return a stored dataset by its name."""
    return next_steps.record(ask(catalogue.facts, dataset=dataset))


NO_LISTS = "No ranked lists are stored yet: python -m compute admin demo computes some."


def dataset(ask: Ask, names: Sequence[str], noun: str, width: int, **more: Any) -> Choice:
    """Return a dataset picker whose value is shared with other pages."""
    how: dict[str, Any] = {"titles": dataset_titles(ask), "width": width, "recalls": names} | more
    return Choice("dataset", "Dataset", names, noun=noun, **how)


def dataset_with_lists(ask: Ask, runs: DataFrame, width: int = 220) -> Choice:
    """Return a picker of datasets that have ranked lists. `runs`: dataset, system."""
    names = list(dict.fromkeys(runs["dataset"]))

    def advice(name: str) -> str:
        """Say why a dataset has no ranked lists; empty if it has some or is unknown."""
        known = DataFrame() if name in names else ask(catalogue.facts, dataset=name)
        return without_runs(ask, next_steps.record(known)) if len(known) else ""

    return dataset(ask, names, "dataset with ranked lists", width, advice=advice)


def outdated(ask: Ask, dataset: Dataset) -> list[str]:
    """Return the systems whose runs on a dataset or its parts are out of date."""
    return freshness.outdated(ask.parts(), [dataset.name, *dataset.parts])


def is_loaded(ask: Ask, dataset: Dataset) -> bool:
    """Return true if the documents of a dataset, or their lengths, are stored."""
    loaded = {part.dataset for part in ask.parts() if part.kind in ("documents", "lengths")}
    return not dataset.parts and dataset.collection in loaded


def _repeated(ask: Ask, datasets: Collection[str], systems: Sequence[str]) -> list[str]:
    """Return the systems with several runs on at least one of the datasets."""
    parts = (part for part in ask.parts() if part.kind == "repeats" and part.dataset in datasets)
    there = {part.system for part in parts}
    return [name for name in systems if name in there]


def first_runs(ask: Ask, datasets: Collection[str], systems: Sequence[str]) -> Iterator[Step]:
    """Yield a note on the systems with several runs; their ranked lists are of the first run."""
    if names := _repeated(ask, datasets, systems):
        titles = system_titles(ask)
        named = ", ".join(titles.get(name, name) for name in names)
        yield Note(
            [
                f"Several runs: {named}. Lists, and lengths, ranges and breakdowns derived from"
                " them, come from the first run; other scores are means over the runs."
            ]
        )


def same_spread(ask: Ask, datasets: Collection[str], two: tuple[str, str]) -> Steps:
    """Ask whether to assume that the system with one run has the other's run-to-run variance;
    return false without asking unless exactly one of the two has several runs."""
    several = _repeated(ask, datasets, two)
    if len(several) != 1:
        return False
    titles = system_titles(ask)
    known, single = sorted(two, key=lambda name: name not in several)
    names = titles.get(single, single), titles.get(known, known)
    label = "For {}, which has one run, use the run-to-run variance of {}".format(*names)
    return (yield Switch("same_spread", label))


def is_unjudged(ask: Ask, name: str) -> bool:
    """Return true if a dataset has runs but no judgements that count."""
    return name in set(ask(catalogue.unjudged)["dataset"])


def unjudged(name: str, *, compare: bool = True) -> Iterator[Step]:
    """Yield a sentence instead of scores for a dataset without judgements, and buttons for the next
    steps. `compare`: also with buttons for comparing its runs and judging documents."""
    yield Message(next_steps.without_judgements(name, judge=compare))
    ways = [
        Button("Compare its runs", Link("compare", {"dataset": name})),
        Button("Judge documents", Link("annotate", {"view": "new", "dataset": name})),
    ]
    # Compare has a button that samples documents to judge.
    ways = ways if compare else []
    yield Row([*ways, Button("Import judgements", Link("data", {"show": "Import", "to": name}))])


def one_run(dataset: str, titles: tuple[str, str]) -> Iterator[Step]:
    """Say why a dataset's only run cannot be compared, and how to get a second run. `titles` are
    those of the dataset and its run."""
    yield Message(f"{titles[0]} has only one run, {titles[1]}; a comparison needs two.")
    yield Row(
        [
            Button("Import a run", Link("data", {"show": "Import", "to": dataset})),
            Button("Run a system", Link("jobs", {"datasets": [dataset]})),
        ]
    )


def without_runs(ask: Ask, dataset: Dataset) -> str:
    """Say why nothing computed is shown for a dataset, and how to get a first run."""
    if is_unjudged(ask, dataset.name):
        return next_steps.without_judgements(dataset.name)
    loaded, old = is_loaded(ask, dataset), outdated(ask, dataset)
    return next_steps.without_runs(dataset, is_loaded=loaded, outdated=old)


def measure(ask: Ask) -> Choice:
    """Return a picker of measures whose value other pages share."""
    look: dict[str, Any] = {"noun": "measure", "advice": to_score, "width": 150}
    return Choice("measure", "Measure", names := ask.measures(), recalls=names, **look)


def segmented(ask: Ask, *collections: str) -> str:
    """Say how many documents of these collections (default: all) are split into words by
    dictionaries."""
    found = {
        (part.dataset, part.provenance.get("words", {}).get("segmented", 0))
        for part in ask.parts()
        if part.kind == "lengths" and part.dataset in (collections or (part.dataset,))
    }
    number = sum(n for _, n in found)
    told = f"{counted(number, 'document')} in scripts without spaces"
    return f"{told}: words from ICU's dictionaries." if number else ""


KIND = "queries"
"""Address key of the query group; a value is `topic:sea`, for example."""
EVERY = ""
"""Value for all queries."""


def query_group(ask: Ask, datasets: Sequence[str], title: str) -> Steps:
    """Yield a picker of query groups for a dataset's parts; return an `Ask` for the chosen one."""
    # Looking up the words of all queries takes longer than most pages.
    rare = (yield Asked(KIND)).startswith(f"{query_slices.RARE}:")
    found = ask(query_slices.kinds, datasets=list(datasets), rare=rare, added=False)
    return (yield from _group(ask, found, list(datasets), title, ready=True))


def query_group_of_all(ask: Ask, unless: str = "") -> Steps:
    """Yield a picker of query groups for all datasets (groups by labels, and the one in the
    address); return an `Ask` for the chosen one. If `unless` says why not, show that instead."""
    asked = yield Asked(KIND)
    if unless:
        if asked:
            yield Above([Note((unless,))])
        return ask
    datasets = ask(query_slices.labelled)["dataset"].tolist()
    found = ask(query_slices.kinds, datasets=datasets, ready=False, added=False)
    ready = asked not in (EVERY, *kinds_by_name(found, ()))
    if ready:
        datasets = sorted({part.dataset for part in ask.parts() if part.kind == "queries"})
        found = ask(query_slices.kinds, datasets=datasets, ready=True, added=False)
    return (yield from _group(ask, found, datasets, "", ready=ready))


def _group(
    ask: Ask, found: DataFrame, datasets: Sequence[str], among: str, *, ready: bool
) -> Steps:
    """Yield the picker of the groups in `found` (rows of `query_slices.kinds`) and a sentence on
    the chosen one; return its `Ask`. `among` and `ready`: as in `only_queries` and `Kind`."""
    found = found[found["key"] != query_slices.REASON]
    kinds, asked = kinds_by_name(found, datasets, ready=ready), (yield Asked(KIND))
    if not kinds and not asked:
        return ask
    titles = {name: kind.title for name, kind in kinds.items()}
    options = [EVERY, *kinds]
    chosen = yield Choice(
        KIND,
        "Queries",
        options,
        noun="query group",
        advice=instead,
        titles=titles | {EVERY: "All queries"},
        width=230,
    )
    if chosen == EVERY:
        return ask
    row = found.iloc[options.index(chosen) - 1]
    yield Above([Text(only_queries(row, titles[chosen], among), icon="filter_alt")])
    return ask.only(kinds[chosen])


def instead(name: str) -> str:
    """Advise on a query group that is not offered."""
    of = query_slices.BY_RESULTS.get(name.partition(":")[0], "")
    why = f"Groups {of} are only descriptive; the Dataset page shows them. "
    return f"{why * bool(of)}All queries are shown."


def kinds_by_name(
    found: DataFrame, datasets: Sequence[str], *, ready: bool = True
) -> dict[str, Kind]:
    """Return the groups in rows of `query_slices.kinds` by their names in an address."""
    pairs = found[["key", "value"]].itertuples(index=False)
    kinds = [Kind(key, value, tuple(datasets), ready) for key, value in pairs]
    return {kind.name: kind for kind in kinds}


def only_queries(row: Series, title: str, among: str) -> str:
    """Say which queries a page shows; `among` is its dataset's title, or empty for several."""
    n = f"{row['n_queries']:,}"
    if among:
        return f"Only queries with {title}: {n} of {row['n_all']:,} on {among}."
    of = counted(row["n_datasets"], "dataset")
    return f"Only queries with {title}: {n}, on {of}. Datasets without any are left out."

"""Options that controls of several pages offer, and titles of datasets and systems."""

import shlex
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
    """Title of each dataset by its name."""
    return unique_titles(ask(catalogue.datasets), "dataset")


def system_titles(ask: Ask) -> dict[str, str]:
    """Title of each system and version, by name."""
    named = unique_titles(ask(catalogue.systems), "system")
    kept = {part.system: part.version_of for part in ask.versions()}
    return named | {name: run_versions.title(named.get(of, of), name) for name, of in kept.items()}


def weights(ask: Ask) -> dict[str, str]:
    """The key of the weights of queries of each dataset that has some, or all whose parts do."""
    labels = [part for part in ask.parts() if part.kind == "query_labels" and not part.system]
    keys = {part.dataset: str(part.provenance.get("weight", "")) for part in labels}
    keys = {name: key for name, key in keys.items() if key}
    of = {name: of.parts for name, of in DATASETS.items() if of.parts and {*of.parts} <= {*keys}}
    whole = {name: ", ".join(sorted({keys[part] for part in parts})) for name, parts in of.items()}
    return keys | whole


def baseline(ask: Ask, dataset: str) -> str:
    """The baseline that is kept with a dataset; empty for none."""
    labels = (part for part in ask.parts() if part.kind == "query_labels" and not part.system)
    return next((of.provenance.get("baseline", "") for of in labels if of.dataset == dataset), "")


def unique_titles(rows: DataFrame, named: str) -> dict[str, str]:
    """Title of each row by its name, in the column `named`; equal titles include the name."""
    again = rows["title"].duplicated(keep=False) & rows["title"].ne(rows[named])
    titles = rows["title"].where(~again, rows["title"] + " (" + rows[named] + ")")
    return dict(zip(rows[named], titles, strict=True))


def usual_pair(ask: Ask, known: Sequence[str], dataset: str) -> tuple[str, str]:
    """The two systems shown by default, whatever judgements count; those that learnt from the
    dataset come last."""
    leading, of = ask(catalogue.leading, added=False, dataset=dataset), dataset.partition("/")[0]
    learnt = {
        name: of in {one.partition("/")[0] for one in learnt_from(name, {})}
        for name in leading["system"]
    }
    return first_pair(known, sorted(learnt, key=learnt.__getitem__))


def first_pair(systems: Sequence[str], leading: Sequence[str] = ()) -> tuple[str, str]:
    """The two systems of a dataset to show by default: the top two of `leading` (best first). With
    fewer than two: BM25, if available, and the last."""
    best = [system for system in leading if system in systems][:2]
    if len(best) == 2:
        return best[0], best[1]
    a = "bm25" if "bm25" in systems else systems[0]
    others = [system for system in systems if system != a]
    return a, others[-1] if others else a


def with_versions(ask: Ask, known: Sequence[str], datasets: Collection[str]) -> list[str]:
    """The systems, each followed by its versions on these datasets."""
    kept: dict[str, list[str]] = {}
    for part in reversed(ask.versions(list(datasets))):
        kept.setdefault(part.version_of, []).append(part.system)
    every = [name for one in known for name in (one, *kept.get(one, ()))]
    return list(dict.fromkeys(every))


def told(known: Sequence[str]) -> list[str]:
    """A line on each lexical system: its settings and the tables that report it, since its title is
    ambiguous."""
    rows = [SYSTEMS[name] for name in known if name in SYSTEMS]
    lines = {
        row.title: "; ".join([*row.settings.split("; ")[:3], *_printed(row)])
        for row in rows
        if row.family == "lexical"
    }
    return [f"{one}: {how}" for one, how in lines.items()]


def _printed(row: System) -> list[str]:
    return [f"printed in {row.published_in.replace('; ', ', ')}"] if row.published_in else []


def systems(ask: Ask, known: Sequence[str], noun: str, datasets: Collection[str] = ()) -> Steps:
    """Picker of the shown systems; returns them in the order of `known`, or all if none is chosen.
    It also offers their versions on `datasets`."""
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
    """True if a run with scores, or its dataset, was imported."""
    return any(
        part.kind == "scores"
        and part.rows > 0
        and (part.dataset not in DATASETS or part.provenance.get("imported"))
        for part in ask.parts()
    )


def to_score(name: str) -> str:
    """Advice on scoring stored runs by a measure that is not offered."""
    if not is_measure(name):
        return ""
    command = f"python -m compute rescore --measure {shlex.quote(name)}"
    return f"To score the stored runs by it, run {command}"


def record(ask: Ask, dataset: str) -> Dataset:
    """A stored dataset by its name."""
    return next_steps.record(ask(catalogue.facts, dataset=dataset))


NO_LISTS = "No ranked lists are stored yet: python -m compute admin demo computes some."


def dataset(ask: Ask, names: Sequence[str], noun: str, width: int, **more: Any) -> Choice:
    """Picker of datasets, whose value other pages share."""
    how: dict[str, Any] = {"titles": dataset_titles(ask), "width": width, "recalls": names} | more
    return Choice("dataset", "Dataset", names, noun=noun, **how)


def dataset_with_lists(ask: Ask, runs: DataFrame, width: int = 220) -> Choice:
    """Picker of datasets with ranked lists; `runs`: dataset, system."""
    names = list(dict.fromkeys(runs["dataset"]))

    def advice(name: str) -> str:
        return "" if name in names else _without_lists(ask, name)

    return dataset(ask, names, "dataset with ranked lists", width, advice=advice)


def _without_lists(ask: Ask, name: str) -> str:
    known = ask(catalogue.facts, dataset=name)
    return without_runs(ask, next_steps.record(known)) if len(known) else ""


def outdated(ask: Ask, dataset: Dataset) -> list[str]:
    """Systems whose runs on a dataset, or on its parts, are out of date."""
    return freshness.outdated(ask.parts(), [dataset.name, *dataset.parts])


def is_loaded(ask: Ask, dataset: Dataset) -> bool:
    """True if the documents of a dataset, or their lengths, are stored."""
    loaded = {part.dataset for part in ask.parts() if part.kind in ("documents", "lengths")}
    return not dataset.parts and dataset.collection in loaded


def _repeated(ask: Ask, datasets: Collection[str], systems: Sequence[str]) -> list[str]:
    """The systems with several runs on one of the datasets."""
    parts = (part for part in ask.parts() if part.kind == "repeats" and part.dataset in datasets)
    there = {part.system for part in parts}
    return [name for name in systems if name in there]


def first_runs(ask: Ask, datasets: Collection[str], systems: Sequence[str]) -> Iterator[Step]:
    """A note on the systems whose lists are those of the first of several runs."""
    if names := _repeated(ask, datasets, systems):
        titles = system_titles(ask)
        named = ", ".join(titles.get(name, name) for name in names)
        yield Note(
            [
                f"Several runs: {named}. Lists, and lengths, ranges and breakdowns made from them,"
                " are those of the first run; other scores are means over the runs."
            ]
        )


def same_spread(ask: Ask, datasets: Collection[str], two: tuple[str, str]) -> Steps:
    """Whether a system with one run is taken to vary as the other does; asked only then."""
    several = _repeated(ask, datasets, two)
    if len(several) != 1:
        return False
    titles = system_titles(ask)
    known, single = sorted(two, key=lambda name: name not in several)
    names = titles.get(single, single), titles.get(known, known)
    label = "Take the run-to-run variance of {}, which has one run, from {}".format(*names)
    return (yield Switch("same_spread", label))


def is_unjudged(ask: Ask, name: str) -> bool:
    """True if a dataset has runs but no judgements that count."""
    return name in set(ask(catalogue.unjudged)["dataset"])


def unjudged(name: str, *, compare: bool = True) -> Iterator[Step]:
    """Sentence in place of scores for a dataset without judgements, with next steps."""
    yield Message(next_steps.without_judgements(name))
    ways = [
        Button("Compare its runs", Link("compare", {"dataset": name})),
        Button("Judge documents", Link("annotate", {"view": "new", "dataset": name})),
    ]
    # Compare has a button that samples documents to judge.
    ways = ways if compare else []
    yield Row([*ways, Button("Add judgements", Link("data", {"show": "Import", "to": name}))])


def without_runs(ask: Ask, dataset: Dataset) -> str:
    """Reason why nothing computed is shown for a dataset, and how to get a first run."""
    if is_unjudged(ask, dataset.name):
        return next_steps.without_judgements(dataset.name)
    loaded, old = is_loaded(ask, dataset), outdated(ask, dataset)
    return next_steps.without_runs(dataset, is_loaded=loaded, outdated=old)


def measure(ask: Ask) -> Choice:
    """Picker of measures."""
    look: dict[str, Any] = {"noun": "measure", "advice": to_score, "width": 150}
    return Choice("measure", "Measure", names := ask.measures(), recalls=names, **look)


def segmented(ask: Ask, *collections: str) -> str:
    """Sentence on how words in scripts without spaces are split, if these collections (default:
    all) have any."""
    found = {
        (part.dataset, part.provenance.get("words", {}).get("segmented", 0))
        for part in ask.parts()
        if part.kind == "lengths" and part.dataset in (collections or (part.dataset,))
    }
    number = sum(n for _, n in found)
    documents = counted(number, "document")
    return (
        (f"{documents} in scripts without spaces: words from ICU's dictionaries.") if number else ""
    )


KIND = "queries"
"""Address key of the query group, such as `topic:sea`."""
EVERY = ""
"""No query group: all queries."""


def query_group(ask: Ask, datasets: Sequence[str], title: str) -> Steps:
    """Picker of query groups on a page of one dataset, given by its parts. Returns an `Ask` for the
    chosen group."""
    # Looking up the words of all queries takes longer than most pages.
    rare = (yield Asked(KIND)).startswith(f"{query_slices.RARE}:")
    found = ask(query_slices.kinds, datasets=list(datasets), rare=rare, added=False)
    return (yield from _group(ask, found, list(datasets), title, ready=True))


def query_group_of_all(ask: Ask, unless: str = "") -> Steps:
    """The same picker on a page of all datasets: groups by labels, and the group in the address.
    `unless`: reason why no group can be chosen, if any."""
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
    """Advice for a query group that is not offered."""
    of = query_slices.BY_RESULTS.get(name.partition(":")[0], "")
    why = f"Groups {of} are only descriptive; the Dataset page shows them. "
    return f"{why * bool(of)}All queries are shown."


def kinds_by_name(
    found: DataFrame, datasets: Sequence[str], *, ready: bool = True
) -> dict[str, Kind]:
    """Query groups of rows of `query_slices.kinds`, by their name in the address."""
    pairs = found[["key", "value"]].itertuples(index=False)
    kinds = [Kind(key, value, tuple(datasets), ready) for key, value in pairs]
    return {kind.name: kind for kind in kinds}


def only_queries(row: Series, title: str, among: str) -> str:
    """Sentence above a page of one query group; `among` is its dataset, or empty for several."""
    n = f"{row['n_queries']:,}"
    if among:
        return f"Only queries with {title}: {n} of {row['n_all']:,} on {among}."
    of = counted(row["n_datasets"], "dataset")
    return f"Only queries with {title}: {n}, on {of}. Datasets without any are left out."

"""Provenance of a view's numbers: one record for pages, exports and a shell."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from compute.base.printable import printable
from compute.evaluate.measures import is_measure, label
from compute.judgements import RULES, SOURCES, Choice
from compute.reading.inputs import Inputs, papers
from compute.store import provenance
from compute.store.freshness import runs_behind
from compute.store.store import Store
from compute.views.leaderboard.cells import in_order


def record(
    store: Store,
    shown: Inputs,
    *,
    version: tuple[int, int],
    choice: Choice | None = None,
    queries: str = "",
    address: str = "",
) -> dict[str, Any]:
    """Return the inputs of a view's numbers, as JSON values without paths of this machine.
    `version` identifies the manifest and the last added judgement, `choice` the added judgements
    that count, and `address` the view. `runs` includes the inputs of runs but leaves out runs that
    are not stored, such as published ones. `in_print` has each cited table with its paper.
    `samples` exists if scores were estimated, `queries` if they cover one query group."""
    pairs, cited = _with_inputs(store, sorted(shown.runs)), papers(store.parts("printed"))
    more: dict[str, Any] = {"queries": queries} if queries else {}
    if shown.samples:
        more["samples"] = [dict(one) for one in sorted(shown.samples)]
    return {
        # With its leading slash, a page's name would be removed as a path of this machine.
        "view": address and "/" + provenance.portable(address.removeprefix("/")),
        "version_of_results": version[0],
        "judgements": _judgements(choice, version[1]),
        "measures": {name: label(name) for name in in_order(shown.measures) if is_measure(name)},
        "runs": provenance.of_runs(store, pairs),
        "collections": provenance.of_datasets(store, sorted(shown.datasets)),
        "in_print": [{"table": one, "paper": cited.get(one, "")} for one in sorted(shown.sources)],
    } | more


def _with_inputs(store: Store, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of dataset and system, each after the inputs of its run."""
    behind = {(part.dataset, part.system): runs_behind(part) for part in store.parts("hits")}
    found: dict[tuple[str, str], None] = {}

    def add(dataset: str, system: str) -> None:
        for name in behind.get((dataset, system), ()):
            add(dataset, name)
        found[dataset, system] = None

    for pair in provenance.single(pairs):
        add(*pair)
    return list(found)


def behind(store: Store, dataset: str, system: str) -> list[dict[str, Any]]:
    """Return the records of a run's input runs."""
    hits = store.part("hits", dataset, system)
    names = runs_behind(hits) if hits else []
    return provenance.of_runs(store, [(dataset, name) for name in names])


def _judgements(choice: Choice | None, last: int) -> dict[str, Any]:
    """Return which judgements count; `last`: the id of the newest added one."""
    if choice is None:
        return {"counted": "official"}
    return {
        "counted": "official + added",
        "of": [SOURCES[source] for source in choice.sources],
        "of_several_for_a_pair": RULES[choice.rule].text,
        "last_added_judgement": last,
    }


def as_json(made: Mapping[str, Any]) -> str:
    """Return the record as JSON text."""
    return json.dumps(made, ensure_ascii=False, indent=1, allow_nan=False)


def as_shell(made: Mapping[str, Any]) -> str:
    """Return the commands that reproduce everything, inputs first, with remarks as comments."""
    lines: dict[str, None] = {}
    for collection in made["collections"]:
        lines[f"# {collection['dataset']} was read from: {origin(collection)}"] = None
        if "import-dataset" in (collection["command"] or ""):
            lines[collection["command"]] = None
        for labels in collection["labels"]:
            if "sha256" in labels:
                lines[f"# {labels['file']} has the SHA-256 {labels['sha256']}"] = None
            lines[labels.get("command") or f"# there is no command for {labels['key']}"] = None
    for run in made["runs"]:
        file = run["file"]
        if "sha256" in file:
            lines[f"# {file.get('file', 'the file')} has the SHA-256 {file['sha256']}"] = None
        lines[
            run["command"] or (f"# there is no command for {run['system']} on {run['dataset']}")
        ] = None
        for one in run.get("further_runs", ()):
            lines[f"# {one['file']} has the SHA-256 {one['sha256']}"] = None
            lines[one["command"]] = None
        if run["scored"].get("command"):
            lines[run["scored"]["command"]] = None
    if not made["runs"]:
        commands = (part["command"] for one in made["collections"] for part in one["counted"])
        lines |= dict.fromkeys(filter(None, commands))
    # Otherwise an outside name could end a comment or control a terminal.
    return "\n".join(printable(line) for line in lines)


def origin(collection: Mapping[str, Any]) -> str:
    """Say where a corpus comes from."""
    source = collection["source"]
    if "library" in source:
        return f"the documentation of {source['library']} {source['version']}"
    files = [
        file["name"] + (f" (SHA-256 {file['sha256']})" if file.get("sha256") else "")
        for file in source.get("files", ())
    ]
    if files:
        return ", ".join(files)
    return "Beirscope itself, without texts" if collection["shipped"] else "not known"

"""Provenance: how a part was made. It is recorded and shown, but is not part of the identity."""

import os
import platform
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from compute.datasets.catalogue import DATASETS, members
from compute.store import freshness
from compute.store.store import Part, Store

PACKAGES = (
    "duckdb",
    "faiss-cpu",
    "numpy",
    "pandas",
    "pyserini",
    "sentence-transformers",
    "torch",
    "transformers",
)
TREATED = {
    "hits_of_other_queries": "hits of queries outside the split, left out",
    "duplicates": "hits of documents that occur higher in the same list, left out",
    "self_hits": "hits of the query's own document, left out",
    "hits_below_depth": "hits below the stored depth (setting depth), left out",
    "tied": "hits with the same score as a neighbour, ordered by document id",
}
"""What ranking or importing a run counts in its provenance, and the meaning of each count."""
COUNTED = ("length_counts", "ngrams", "wordpieces", "overlap")
"""Kinds of parts that are made only from a dataset."""
Identity = tuple[str, str, str]
"""Kind, dataset and system of a part."""
_SET = ("split", "language", "drop_self", "relevance", "archive", "md5", "homepage", "licence")
_TOLD_OF_DATASET = {"command", "seconds", "date", "versions", "hardware", "dataset", "source"}
_TOLD_OF_DATASET |= {"sha256", "called"}
_TOLD = {"command", "seconds", "date", "versions", "hardware", "inputs", "identity"}
_TOLD |= {"checkpoints", "depth", "cut", "drop_self", "file", "sha256", "imported", *TREATED}
"""Keys that the records of `of_runs` show in their own place, not among the facts."""
_PATH = re.compile(
    r"""(?P<quote>['"])(?:file://|~?/|\.{1,2}/).*?(?P=quote)"""  # a quoted path may contain spaces
    r"""|(?<=[(,=])(?:~|\.{0,2})/[^\s'"(),=]*(?=[,)])"""  # in a system's name, up to its mark
    r"""|file://\S*"""
    r"""|(?<![\w./:…])(?:~|\.{0,2})/[\w.~-][^\s'"]*"""
)


def record(
    command: Sequence[str], seconds: float, *, after: Any = "", **facts: Any
) -> dict[str, Any]:
    """Return the provenance of a part: the command that reproduces it, seconds, versions, hardware
    and UTC date. `after` is a command to run before it, if any."""
    return {
        "command": f"{f'{after} && ' if after else ''}python -m compute {shlex.join(command)}",
        "seconds": round(seconds, 3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": dict(versions()),
        "hardware": dict(hardware()),
        **facts,
    }


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of Python and of the packages that affect numbers."""
    found = [("python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return tuple(found)


@cache
def hardware() -> tuple[tuple[str, Any], ...]:
    """Return processor, cores and memory (GiB) of this machine, but not its name."""
    return (
        ("processor", _processor()),
        ("cores", os.cpu_count()),
        ("memory_gib", round(psutil.virtual_memory().total / 1024**3, 1)),
        ("system", f"{platform.system()} {platform.machine()}"),
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def portable(value: Any) -> Any:
    """Return provenance without this machine's paths; the key of a path, if any, is removed too."""
    if isinstance(value, str):
        return _PATH.sub("…", value)
    if isinstance(value, dict):
        # A key may be the name of a system, which may contain a folder.
        cleaned = {
            _PATH.sub("…", key): portable(item) for key, item in value.items() if key != "path"
        }
        return {key: item for key, item in cleaned.items() if item != "…"}
    if isinstance(value, list):
        return [portable(item) for item in value]
    return value


def without_folders(systems: Iterable[str]) -> dict[str, str]:
    """Return names of systems for other machines: unique, and without this machine's folders."""
    found: dict[str, str] = {}
    for name in sorted(set(systems)):
        cleaned = portable(name)
        if cleaned != name:
            same = sum(other.partition(" ")[0] == cleaned for other in found.values())
            found[name] = f"{cleaned} {same + 1}" if same else cleaned
    return found


def of_runs(store: Store, pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the provenance of each stored run (dataset, system) as JSON values, without paths of
    this machine. A dataset of parts stands for the runs on its parts."""
    pairs = list(single(pairs))
    parts = store.parts(picked=[system for _, system in pairs])
    live = {part.identity: part for part in parts}
    fresh = {part.identity for part in freshness.split(parts)[0]}
    return [
        portable(_of_run(live, fresh, dataset, system))
        for dataset, system in pairs
        if ("hits", dataset, system) in live or ("scores", dataset, system) in live
    ]


def of_datasets(store: Store, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the provenance of each dataset, in the form of `of_runs`."""
    of_training = [part for part in store.parts("query_labels") if part.system]
    parts = store.parts(system="") + of_training
    live = {part.identity: part for part in parts}
    fresh = {part.identity for part in freshness.split(parts)[0]}
    single = dict.fromkeys(part for name in names for part in members(name))
    return [
        portable(_of_dataset(live, fresh, name))
        for name in single
        if any(dataset == name for _, dataset, _ in live)
    ]


def _of_dataset(live: dict[Identity, Part], fresh: set[Identity], dataset: str) -> dict[str, Any]:
    """Return a dataset's record; `counted` has the parts made only from it, such as lengths."""
    queries = live.get(("queries", dataset, ""))
    about = queries.provenance if queries else {}
    record = about.get("dataset", {})
    known = DATASETS.get(dataset)
    collection = record.get("collection") or (known.collection if known else dataset)
    read = {"corpus": ("lengths", collection), "documents": ("documents", collection)}
    read |= {kind: (kind, dataset) for kind in ("queries", "judgements")}
    found = {
        name: live[kind, of, ""] for name, (kind, of) in read.items() if (kind, of, "") in live
    }
    own = [part for part in live.values() if part.dataset in (dataset, collection)]
    others = [part for part in own if part.kind in COUNTED]
    return {
        "dataset": dataset,
        "collection": collection,
        **{name: about.get(name) for name in ("command", "date", "seconds")},
        "source": _source(about),
        "settings": {name: record[name] for name in _SET if name in record},
        "fingerprints": {name: part.fingerprint for name, part in found.items()},
        "rows": {name: part.rows for name, part in found.items()},
        "facts": {name: value for name, value in about.items() if name not in _TOLD_OF_DATASET},
        "versions": about.get("versions", {}),
        "hardware": about.get("hardware", {}),
        "labels": [told for part in own if part.kind == "query_labels" for told in _labels(part)],
        "counted": [_counted(part, part.identity in fresh) for part in others],
        "shipped": bool(queries and queries.shipped),
        "parts": _parts(found.values()),
    }


def _source(about: dict[str, Any]) -> dict[str, Any]:
    """Return the files or the library that it was read from, without the files' times here."""
    source = about.get("source") or {}
    digests = about.get("sha256", {})
    files = [
        {"name": file["name"], "bytes": file["size"], "sha256": digests.get(file["name"])}
        for stamp in (source, source.get("queries", {}))
        for file in stamp.get("files", ())
    ]
    called = about.get("called", ())
    if len(called) == len(files):
        files = [file | {"name": name} for file, name in zip(files, called, strict=True)]
    kept = {name: value for name, value in source.items() if name not in ("files", "queries")}
    return kept | ({"files": files} if files else {})


def _labels(part: Part) -> list[dict[str, Any]]:
    """Return the provenance of the query labels, key by key."""
    about = part.provenance
    whole = {name: about.get(name) for name in ("command", "date", "file", "sha256")}
    keys: dict[str, list[dict[str, Any]]] = about.get("keys", {"": [whole]})
    return [{"key": key, **made} for key, of in keys.items() for made in of]


def _counted(part: Part, is_current: bool) -> dict[str, Any]:
    return {
        "kind": part.kind,
        **{name: part.provenance.get(name) for name in ("command", "date", "seconds")},
        "fingerprint": part.fingerprint,
        "shipped": part.shipped,
        "is_current": is_current,
    }


def single(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs, each once, with a dataset of parts replaced by its parts."""
    single = ((part, system) for dataset, system in pairs for part in members(dataset))
    yield from dict.fromkeys(single)


def _of_run(
    live: dict[Identity, Part],
    fresh: set[Identity],
    dataset: str,
    system: str,
) -> dict[str, Any]:
    """Return a run's record, from its hits or else its scores."""
    hits, scores = (live.get((kind, dataset, system)) for kind in ("hits", "scores"))
    part = hits or scores
    assert part is not None
    about = part.provenance
    further = live.get(("repeats", dataset, system))
    runs = further.provenance["runs"] if further else []
    return {
        "dataset": dataset,
        "system": system,
        "further_runs": [{name: one[name] for name in _OF_RUN} for one in runs],
        **{name: about.get(name) for name in ("command", "date", "seconds")},
        "settings": _settings(about),
        "fingerprints": _prints(hits, scores),
        "made_from": freshness.runs_behind(part),
        "treated": {name: about[name] for name in TREATED if about.get(name)},
        "file": {name: about[name] for name in ("file", "sha256") if name in about},
        "facts": {name: value for name, value in about.items() if name not in _TOLD}
        | ({"files of further runs": ", ".join(one["file"] for one in runs)} if runs else {}),
        "versions": about.get("versions", {}),
        "hardware": about.get("hardware", {}),
        "scored": _scored(scores, about),
        "published": part.created,
        "shipped": part.shipped,
        "is_current": part.identity in fresh and (scores is None or scores.identity in fresh),
        "parts": _parts(part for part in (hits, scores) if part),
        "damage": next((part.damage for part in (hits, scores) if part and part.damage), ""),
    }


_OF_RUN = ("command", "date", "file", "sha256", "versions", "hardware")


def _parts(found: Iterable[Part]) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of each file by kind; `as` says if it was recorded at writing or found."""
    return {part.kind: {"sha256": part.sha256, "as": part.sha256_as} for part in found}


def _prints(hits: Part | None, scores: Part | None) -> dict[str, str]:
    """Return the fingerprints of a run, its scores, and their inputs."""
    inputs = hits.provenance.get("inputs", {}) if hits else {}
    judged = scores.provenance.get("inputs", {}) if scores else {}
    prints = {
        "corpus": inputs.get("lengths"),
        "queries": inputs.get("queries"),
        "judgements": judged.get("judgements"),
        "hits": hits.fingerprint if hits else None,
        "scores": scores.fingerprint if scores else None,
    }
    # A run made from other runs or a trained model has these as further inputs.
    prints |= {name: mark for name, mark in inputs.items() if ":" in name}
    return {name: mark for name, mark in prints.items() if mark}


def _settings(about: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that affected these hits."""
    named = {name: about[name] for name in ("depth", "cut", "drop_self") if name in about}
    return {**about.get("identity", {}), **named} | (
        {"checkpoints": about["checkpoints"]} if about.get("checkpoints") else {}
    )


def _scored(scores: Part | None, about: dict[str, Any]) -> dict[str, Any]:
    """Return the provenance of the scores, if they were not made with the run."""
    if scores is None or scores.provenance.get("date") == about.get("date"):
        return {}
    names = ("command", "date", "seconds", "versions", "hardware")
    return {name: scores.provenance[name] for name in names if name in scores.provenance}

"""Damage: parts whose file is lost, truncated or changed, and the command that recomputes each. A
damaged part is left out (`freshness`) and reported. Its size is checked whenever the manifest is
read; its content is checked once per machine, in the background of the first page or by `check`."""

import logging
import os
import shlex
import threading
from collections.abc import Iterable

from compute.base.errors import Missing, Unavailable
from compute.base.settings import PROJECT
from compute.base.words import near
from compute.datasets import places
from compute.datasets.catalogue import DATASETS
from compute.store import integrity, state
from compute.store.loading import Progress, quiet
from compute.store.store import Part, Store

READ = ("queries", "judgements", "subtopics", "documents", "lengths")
"""Kinds of parts that are read from the source of a dataset."""
ONCE_MORE = ("efficiency", "augmented", "overlap")
"""Kinds of parts that a command recomputes only on request (`--again`)."""
_TOLD = 3
"""Maximum number of parts named at once; `check --store` names all."""
_WRITTEN = 100
"""Number of checksums written to the manifest at a time."""
log = logging.getLogger(__name__)


def mend(part: Part) -> str:
    """Return a command, or a sentence with one, that recomputes or restores a part."""
    command = part.provenance.get("command", "")
    if part.shipped:
        return f"git checkout -- {os.path.relpath(part.path, PROJECT)} restores it from the project"
    if part.kind in ("scores", "run_scores"):
        return f"python -m compute rescore {part.dataset}"
    if part.version_of or part.kind == "repeats":
        # It cannot be recomputed, and what remains of it may be the only copy.
        remove = f"remove {part.dataset} --system {shlex.quote(part.system)} --yes"
        return (
            f"copy parts/{part.kind}/{part.path.name} of a backup here, or remove the rest of"
            f" {'this earlier run' if part.version_of else 'its runs'}: python -m compute {remove}"
        )
    if part.kind == "narratives":
        return f"python -m compute add-texts {part.dataset} FILE (its topics or queries.jsonl)"
    if part.kind in READ and part.dataset in DATASETS:
        return places.how_to_run(DATASETS[part.dataset])
    if part.kind == "length_counts":
        return f"python -m compute lengths compute {part.dataset}"
    if not command:
        command = _run(part.dataset, part.system)
    return f"{command} --again" if part.kind in ONCE_MORE else command


def named(kind: str, dataset: str, system: str = "") -> str:
    """Return the name of a part: `hits of bm25 on scifact` or `queries of scifact`."""
    return f"{kind} of {system} on {dataset}" if system else f"{kind} of {dataset}"


def said(part: Part) -> str:
    """Return a sentence on a damaged part: its name, its fault, and the command to recompute it."""
    return f"{named(*part.identity)} left out ({part.damage}): {mend(part)}"


def told(parts: Iterable[Part]) -> list[str]:
    """Return a sentence for each of the first damaged parts, and how to list the others."""
    damaged = [part for part in parts if part.damage]
    lines = [said(part) for part in damaged[:_TOLD]]
    if more := len(damaged) - len(lines):
        lines.append(f"{more:,} more damaged: python -m compute check --store names all")
    return lines


def wanted(store: Store, kind: str, dataset: str, system: str = "") -> Part:
    """Return the live part of an identity, verified once per machine. Raises Missing if there is
    none, and Unavailable if it is damaged."""
    found = [store.verify(part) for part in store.parts(kind, dataset, system)]
    if not found:
        raise missing(kind, dataset, system)
    refuse(found)
    return found[0]


def run(store: Store, dataset: str, system: str) -> Part:
    """Return the stored hits of a system, as `wanted` does. Raises Missing with similar names."""
    stored = [hits.system for hits in store.parts("hits", dataset, picked=None)]
    if system not in stored:
        raise Missing(
            f"no run of {system} on {dataset} is stored: {near(system, stored)}"
            "python -m compute scores lists the stored runs"
        )
    return wanted(store, "hits", dataset, system)


def missing(kind: str, dataset: str, system: str = "") -> Missing:
    """Return the error for a part that was never stored, with the command that computes it."""
    return Missing(f"no {named(kind, dataset, system)}: {_run(dataset, system)}")


def _run(dataset: str, system: str) -> str:
    return f"python -m compute run {shlex.quote(system or 'bm25')} {dataset}"


def refuse(parts: Iterable[Part]) -> None:
    """Raise Unavailable if one of the parts is damaged."""
    for part in parts:
        if part.damage:
            raise Unavailable(said(part))


def verify(store: Store, *, anew: bool = False, progress: Progress = quiet) -> list[Part]:
    """Return every live part with its damage. A file is read if this machine has not read it yet,
    or if `anew`. Checksums of an old home's files are recorded in the manifest as found."""
    live = store.parts(picked=None)
    found: list[Part] = []
    kept = 0
    for number, part in enumerate(live, 1):
        found.append(store.verify(part, anew=anew))
        progress(number, len(live), "parts read")
        if number - kept == _WRITTEN or number == len(live):
            pairs = zip(live[kept:number], found[kept:], strict=True)
            if new := {one.id: one.sha256 for old, one in pairs if one.sha256 != old.sha256}:
                state.keep_found(store.engine, new)
            kept = number
    store.forget_checksums(live)
    return found


def verify_beside(store: Store) -> threading.Thread:
    """Start `verify` in a thread, so that nothing waits for it; return the thread."""

    def work() -> None:
        try:
            verify(store)
            store.broken = integrity.found(store.engine)
        except Exception:
            # Pages work without this check; `check --store` reports the fault.
            log.warning("the stored parts could not be read completely", exc_info=True)

    thread = threading.Thread(target=work, name="checksums", daemon=True)
    thread.start()
    return thread


def found_anew(store: Store) -> list[Part]:
    """Read all parts; return those with damage unknown before, as it may explain an error."""
    known = {part.id for part in store.parts(picked=None) if part.damage}
    return [part for part in verify(store) if part.damage and part.id not in known]

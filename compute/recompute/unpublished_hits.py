"""Drafts: the hits of a search, kept under their fingerprint until they are published. If a job
dies between searching and publishing, it finds its draft here and need not search again."""

import contextlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import json_files
from compute.base.files import make_folder, written_aside
from compute.base.settings import Settings
from compute.evaluate.runs import Run

_OWN = re.compile(r"[\da-f]{64}\.parquet|\.[\da-f]{32}\.tmp")
"""Matches the names of files written here; other files in the folder are left alone."""
STAYS = 24 * 3600
"""Seconds for which the draft of an abandoned job is kept."""
_FACTS = b"beirscope"


@dataclass(frozen=True)
class Draft:
    """A canonical run, and its costs in seconds by name (`facts`)."""

    run: Run
    facts: Mapping[str, float]
    costs: Mapping[str, Any] = field(default_factory=dict)
    """All costs: `values` by measure, and details in `about`; empty for an old draft."""


def kept(settings: Settings, fingerprint: str) -> Draft | None:
    """Return the draft of these hits if their search was finished; remove a damaged draft."""
    file = _file(settings, fingerprint)
    try:
        return _read(file)
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        file.unlink(missing_ok=True)
        return None


def _read(file: Path) -> Draft:
    table = pq.read_table(file)
    record = json_files.parsed((table.schema.metadata or {})[_FACTS])
    # Without pandas' own metadata the frame comes back with plain columns.
    frame = table.replace_schema_metadata(None).to_pandas()
    return Draft(Run(frame, **record["counts"]), record["facts"], record.get("costs", {}))


def keep(settings: Settings, fingerprint: str, draft: Draft) -> None:
    """Write the draft under another name and rename it, so that it is never incomplete."""
    file = _file(settings, fingerprint)
    make_folder(file.parent)
    _forget_old(file.parent)
    counts = {name: getattr(draft.run, name) for name in ("duplicates", "self_hits", "tied")}
    costs = dict(draft.costs)
    record = json.dumps({"counts": counts, "facts": dict(draft.facts), "costs": costs})
    table = pa.Table.from_pandas(draft.run.frame, preserve_index=False)
    with written_aside(file) as stream:
        pq.write_table(table.replace_schema_metadata({_FACTS: record}), stream)


def drop(settings: Settings, fingerprint: str) -> None:
    """Remove a published draft."""
    _file(settings, fingerprint).unlink(missing_ok=True)


def _file(settings: Settings, fingerprint: str) -> Path:
    return settings.home / "drafts" / f"{fingerprint}.parquet"


def _forget_old(folder: Path) -> None:
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            is_own = _OWN.fullmatch(file.name) and file.is_file() and not file.is_symlink()
            if is_own and time.time() - file.stat().st_mtime > STAYS:
                file.unlink()

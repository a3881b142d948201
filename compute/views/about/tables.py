"""Provenance records as tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from pandas import DataFrame

from compute.store import provenance
from compute.views.about import view_provenance
from compute.views.shared.theme import plain

SHORT = 12
"""Characters of a fingerprint that tables show; records have all 64."""
SHIPPED, OLD = "shipped", "out of date: made from data that is no longer stored"
FOUND = "adopted from existing files; origin unknown"

_WORDS = {
    "drop_self": "self-matches dropped",
    "depth": "depth",
    "cut": "stored depth",
    "memory_gib": "memory (GiB)",
    "system": "operating system",
}


def runs_table(runs: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return a row for each run: command, settings, date, machine, fingerprints."""
    rows = [
        {
            "System": run["system"],
            "Dataset": run["dataset"],
            "Command": run["command"] or "",
            "Made (UTC)": date(run["date"]),
            "Seconds": run["seconds"],
            "Remark": remark(run),
            **_prints(run["fingerprints"], ("hits", "scores", "corpus", "queries", "judgements")),
            "Settings": settings(run["settings"]),
            "Machine": machine(run["hardware"]),
        }
        for run in runs
    ]
    return DataFrame(rows)


def collections_table(collections: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return a row for each dataset: its source and its content."""
    rows = [
        {
            "Dataset": one["dataset"],
            "From": view_provenance.origin(one),
            "Documents": one["rows"].get("corpus"),
            "Queries": one["rows"].get("queries"),
            "Judgements": one["rows"].get("judgements"),
            "Read (UTC)": date(one["date"]),
            **_prints(one["fingerprints"], ("corpus", "queries", "judgements")),
            "Remark": SHIPPED if one["shipped"] else "",
        }
        for one in collections
    ]
    return DataFrame(rows).convert_dtypes()


def _prints(marks: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the shortened fingerprints of these names, as columns."""
    return {f"# {name}": marks.get(name, "")[:SHORT] for name in names}


def remark(run: Mapping[str, Any]) -> str:
    """State the caveats for quoting a run."""
    cut = run["settings"].get("cut")
    shipped = f"{SHIPPED}, truncated to its top {cut}" if cut else SHIPPED
    old = f"left out, {run['damage']}" if run.get("damage") else OLD
    said = [old] * (not run["is_current"]) + [shipped] * run["shipped"]
    if any(part["as"] == "found" for part in run.get("parts", {}).values()):
        said.append(FOUND)
    return "; ".join(said)


def settings(values: Mapping[str, Any]) -> str:
    """Return settings in one line: `ranker Bm25, k1 0.9, b 0.4`."""
    return ", ".join(f"{words(name)} {value(found)}" for name, found in values.items())


def words(name: str) -> str:
    """Return the name of a setting in words."""
    return _WORDS.get(name, name.replace("_", " "))


def value(found: Any) -> str:
    """Return a value of a record in words."""
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, float):
        return f"{found:.6g}".replace("-", "−")
    if isinstance(found, Mapping):
        return settings(found)
    if isinstance(found, list | tuple):
        return "; ".join(value(one) for one in found)
    return "–" if found is None else str(found)


def date(text: str | None) -> str:
    """Shorten an ISO 8601 date in UTC to the form `2026-11-21 14:15`."""
    return (text or "")[:16].replace("T", " ")


def machine(hardware: Mapping[str, Any]) -> str:
    """Return processor, cores, memory and operating system in one line."""
    if not hardware:
        return ""
    memory = hardware.get("memory_gib")
    said = [str(hardware.get("processor", "")), f"{hardware.get('cores')} cores"]
    return ", ".join([*said, f"{memory:g} GiB" if memory else "", str(hardware.get("system", ""))])


def scores_table(means: DataFrame, measures: Sequence[str]) -> DataFrame:
    """Return one run's scores in the order of `measures`: Measure, Mean, Queries, Unanswered."""
    order = {name: place for place, name in enumerate(measures)}
    rows = means[means["measure"].isin(order)].sort_values("measure", key=lambda m: m.map(order))
    return DataFrame(
        {
            "Measure": rows["measure"],
            "Mean": [plain(float(found), 4) for found in rows["value"]],
            "Queries": rows["n_queries"],
            "Unanswered": rows["n_unanswered"].astype("Int64"),
        }
    )


def facts_table(values: Mapping[str, Any], head: str) -> DataFrame:
    """Return a row for each value of a record, with its name in words."""
    rows = [(words(name), value(found)) for name, found in values.items()]
    return DataFrame(rows, columns=[head, "Value"])


def treated_table(run: Mapping[str, Any]) -> DataFrame:
    """Return Count and What for each change that importing or ranking made to the run."""
    rows = [(run["treated"].get(name, 0), text) for name, text in provenance.TREATED.items()]
    # Only imported files can contain hits for other queries, the first remark.
    rows = rows if run["file"] else rows[1:]
    return DataFrame(rows, columns=["Count", "What"])


def chain_table(
    run: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]], collection: Mapping[str, Any]
) -> DataFrame:
    """Return the inputs of the run, down to files: What, Now, From, Rows, Fingerprint. `Now` says
    whether the stored data are still those from which the run was made."""
    marks, stored = run["fingerprints"], collection["fingerprints"]
    rows: list[tuple[str, str, str, int | None, str]] = []
    for name in ("corpus", "queries", "judgements"):
        mark = marks.get(name)
        if mark is None and name == "corpus":
            rows.append(("corpus", "", "unknown, because the run was imported", None, ""))
        elif mark is not None:
            n_rows = collection["rows"].get(name)
            now = _now(mark, stored.get(name))
            rows.append((name, now, view_provenance.origin(collection), n_rows, mark))
    for one in inputs:
        mark = marks.get(f"hits:{one['system']}", "")
        now = _now(mark, one["fingerprints"].get("hits")) if mark else ""
        rows.append((f"run of {one['system']}", now, one["command"] or "", None, mark))
    if run["file"]:
        file = run["file"].get("file", "not known")
        rows.append(("run file", "", file, None, run["file"].get("sha256", "")))
    columns = ["What", "Now", "From", "Rows", "Fingerprint"]
    return DataFrame(rows, columns=columns).astype({"Rows": "Int64"})


def _now(mark: str, stored: str | None) -> str:
    """Compare an input's fingerprint with that of the data stored now."""
    if stored is None:
        return "no longer stored"
    return "as stored" if stored == mark else "replaced since"

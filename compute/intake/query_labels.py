"""Labels of queries, from files: they define the query groups of a dataset."""

import io
import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.files import digest
from compute.base.result_identity import fingerprint
from compute.base.words import counted, near, several, shown
from compute.datasets import Dataset, compressed, trec, unpacked_size
from compute.evaluate.slices import MOST_VALUES, REASON
from compute.recompute import run as recompute
from compute.store import leakage, provenance, state
from compute.store.loading import Bench
from compute.store.store import Part, Publication, Store

KIND = "query_labels"
_MOST_NAMED = 20
"""Maximum number of keys that a sentence names."""
FAMILY, WEIGHT = ROLES = ("family", "weight")
"""In the provenance of labels: the key that says which queries belong together, and the key that
says how much each query counts."""
BASELINE = "baseline"
"""In the provenance of labels: the system with which a dataset's pages compare the others."""
REASONS = "reasons"
"""In the provenance of labels: the reasons that a dataset offers for its queries' scores."""
USUAL = ("missing term", "wrong entity", "label wrong", "too general", "other")
MOST_REASONS = 9
"""One reason for each key from 1 to 9."""
_OF_KEY = ("command", "date", "file", "sha256")
COLUMNS = ["query_id", "key", "value"]
LONGEST = 60
"""Maximum number of characters of a key or a value, which labels an axis."""


def import_file(
    bench: Bench,
    file: Path,
    dataset: Dataset,
    *,
    replace: bool = False,
    family: str | None = None,
    weight: str | None = None,
) -> tuple[Part, bool]:
    """Add the labels of a file (`read`) to those of a dataset. Returns the part, and whether it is
    new. Stored labels stay, except that `replace` replaces those of the file's keys; queries
    outside the dataset, such as those of another split, are left out. `family` and `weight` are as
    in `put`. Raises WrongInput with file and line, and Conflict if a query has another label of a
    key and `replace` is false."""
    start = time.perf_counter()
    dataset.refuse_parts()
    loaded = recompute.stored_dataset(bench.store, dataset)
    unpacked_size.require(file, bench.settings.home)
    rows, no_kinds = read(file, family, weight)
    known = rows["query_id"].isin(recompute.read(loaded.queries)["query_id"])
    if not known.any():
        raise WrongInput(
            f"{dataset.name} has none of the queries of {file}: is it for another dataset?"
        )
    about: dict[str, Any] = {"file": file.name, "sha256": digest(file)}
    about |= {"labels_of_other_queries": int((~known).sum()), "fields_left_out": no_kinds}
    words = ["import-labels", file.name, "--dataset", dataset.name]
    roles = {FAMILY: family, WEIGHT: weight}
    words += _options(roles)
    made = provenance.record(words, time.perf_counter() - start, **about)
    how: dict[str, Any] = {"replace": replace, **roles}
    return put(bench.store, dataset.name, rows.loc[known, COLUMNS], made, **how)


def declare(bench: Bench, dataset: Dataset, **roles: Any) -> tuple[Part, bool]:
    """Declare which key of a dataset's labels has the families (`family`) or weights (`weight`) of
    its queries, or which system is its `baseline`. An empty text removes a declaration, None keeps
    it."""
    dataset.refuse_parts()
    baseline = roles.get(BASELINE)
    known = [part.system for part in bench.store.parts("scores", dataset.name)]
    if baseline and baseline not in known:
        there = near(baseline, known) or "import or compute one first"
        raise Missing(f"{dataset.name} has no scores of {shown(baseline)}: {there.strip()}")
    words = ["import-labels", "--dataset", dataset.name, *_options(roles)]
    made, nothing = provenance.record(words, 0), DataFrame(columns=COLUMNS, dtype="str")
    return put(bench.store, dataset.name, nothing, made, **roles)


def _options(roles: dict[str, str | None]) -> list[str]:
    given = ((f"--{role}", key) for role, key in roles.items() if key is not None)
    return [word for pair in given for word in pair]


def put(
    store: Store,
    dataset: str,
    rows: DataFrame,
    made: dict[str, Any],
    *,
    replace: bool = False,
    family: str | None = None,
    weight: str | None = None,
    baseline: str | None = None,
) -> tuple[Part, bool]:
    """Publish labels (COLUMNS) in addition to those of a dataset, or with `replace` instead of
    those of the same keys. Returns the part, and whether it is new. Its provenance is `made`, with
    the origin of each key's labels under `keys`, and the declarations as in `declare` under FAMILY,
    WEIGHT and BASELINE. Raises Conflict and WrongInput as `import_file` does, and Missing if a
    declared key has no labels."""
    with store.alone("import"):
        for key in sorted(of_training(store, dataset).keys() & {*rows["key"]}):
            told = f"{shown(key)} is what `leakage find` found on {dataset}: rename the key"
            raise Conflict(told)
        old = store.part(KIND, dataset)
        given = zip((*ROLES, BASELINE), (family, weight, baseline), strict=True)
        roles = {role: key_of(old, role) if key is None else key for role, key in given}
        roles = {role: key for role, key in roles.items() if key}
        of_keys = [key for role, key in roles.items() if role != BASELINE]
        together = _beside(old, rows, of_keys, replace=replace)
        for key in {*of_keys} - {*together["key"]}:
            there = near(key, [*together["key"]])
            raise Missing(f"{dataset} has no labels {shown(key)}: {there}import them first")
        check_weights(together[together["key"] == roles.get(WEIGHT)], dataset)
        made |= roles
        made |= {REASONS: reasons(old)} if old and REASONS in old.provenance else {}
        if old and old.fingerprint == _mark(together, roles):
            return old, False
        before, own = made_by_key(old) if old else {}, by_key(rows["key"], made)
        keys = {key: ([] if replace else before.get(key, [])) + of for key, of in own.items()}
        with store.publishing(f"import labels of queries of {dataset}") as parts:
            return _add(parts, dataset, together, made | {"keys": before | keys}), True


def of_training(store: Store, dataset: str) -> dict[str, str]:
    """Return the training set for each key whose labels `leakage` made and stored as separate
    parts."""
    names = [part.system for part in store.parts(KIND, dataset) if part.system]
    return {key: name for name in names for key in leakage.keys(name)}


def _add(parts: Publication, dataset: str, rows: DataFrame, made: dict[str, Any]) -> Part:
    # Labels from a file depend on no other part, though early versions recorded inputs.
    made = {name: value for name, value in made.items() if name != "inputs"}
    mark = _mark(rows, made)
    return parts.add(KIND, rows, dataset=dataset, fingerprint=mark, provenance=made)


def _without(parts: Publication, old: Part | None, key: str) -> None:
    """Publish the labels without those of a key, and without its declaration."""
    if old is None:
        return
    rows = recompute.read(old)[COLUMNS]
    rows = rows[rows["key"] != key].reset_index(drop=True)
    left = {name: made for name, made in made_by_key(old).items() if name != key}
    if rows.empty and not {REASONS, BASELINE} & {*old.provenance}:
        parts.remove(*old.identity)
    else:
        kept = {role: "" for role in ROLES if key_of(old, role) == key}
        _add(parts, old.dataset, rows, old.provenance | {"keys": left} | kept)


def reasons(part: Part | None) -> list[str]:
    """Return the reasons that a dataset with these labels offers, in the order of their keys."""
    return list(part.provenance.get(REASONS, USUAL) if part else USUAL)


def offer(store: Store, dataset: str, names: Sequence[str]) -> None:
    """Set the reasons that a dataset offers; queries keep their reasons. Raises WrongInput unless
    there are one to nine different labels."""
    names = list(dict.fromkeys(filter(None, map(str.strip, names))))
    if not 1 <= len(names) <= MOST_REASONS:
        raise WrongInput(f"{len(names)} reasons: give 1 to {MOST_REASONS}, one for each key")
    if wrong := [name for name in names if not _is_label(name)]:
        raise WrongInput(f"{shown(wrong[0])} is not a reason: write at most {LONGEST} characters")
    with store.alone("import"):
        old = store.part(KIND, dataset)
        _renew(store, dataset, _rows(old), _about(old) | {REASONS: names})


def give(store: Store, dataset: str, query_id: str, reason: str) -> None:
    """Give a query a reason, replacing any other. If it already has this reason, remove it."""
    with store.alone("import"):
        old = store.part(KIND, dataset)
        rows, new = _rows(old), DataFrame([(query_id, REASON, reason)], columns=COLUMNS)
        kept = rows[(rows["query_id"] != query_id) | (rows["key"] != REASON)]
        is_new = rows.merge(new).empty
        rows = pd.concat([kept, new]) if is_new else kept
        words = ["import-labels", "reasons.tsv", "--dataset", dataset, "--replace"]
        made = provenance.record(words, 0) | {"date": state.now()}
        about = _about(old) | made
        files = [one for one in about["keys"].get(REASON, []) if "file" in one]
        about["keys"] |= {REASON: [*files, *by_key([REASON], made)[REASON]]}
        _renew(store, dataset, rows.sort_values(["key", "query_id"], ignore_index=True), about)


def _rows(part: Part | None) -> DataFrame:
    return recompute.read(part)[COLUMNS] if part else DataFrame(columns=COLUMNS, dtype="str")


def _about(part: Part | None) -> dict[str, Any]:
    return part.provenance | {"keys": made_by_key(part)} if part else {"keys": {}}


def _renew(store: Store, dataset: str, rows: DataFrame, made: dict[str, Any]) -> None:
    with store.publishing(f"reasons of queries of {dataset}") as parts:
        _add(parts, dataset, rows, made)


def _mark(rows: DataFrame, made: Mapping[str, Any]) -> str:
    named = {role: made[role] for role in (*ROLES, BASELINE) if made.get(role)}
    return fingerprint(KIND, [], labels=rows.to_numpy().tolist(), **named)


def key_of(part: Part | None, role: str) -> str:
    """Return the key that is declared for a role (FAMILY, WEIGHT or BASELINE); empty if none is."""
    return str(part.provenance.get(role, "")) if part else ""


def check_weights(rows: DataFrame, of: object) -> None:
    """Raise WrongInput for labels (query_id, key, value, perhaps line) that are not weights."""
    numbers = pd.to_numeric(rows["value"], errors="coerce")
    wrong = rows[~(np.isfinite(numbers) & (numbers >= 0))]
    if wrong.empty and (rows.empty or numbers.max() > 0):
        return
    first = (rows if wrong.empty else wrong).iloc[0]
    where = f"{of}, line {first['line']}" if "line" in rows else of
    if wrong.empty:
        raise WrongInput(f"{where}: all weights {shown(first['key'])} are 0: give some above 0")
    raise WrongInput(
        f"{where}: the weight {shown(first['key'])} of query {shown(first['query_id'])} is"
        f" {shown(first['value'])}: give a number of 0 or more"
    )


def families(store: Store, dataset: str) -> Series:
    """Return the family of each query that has one, by query_id; empty if none are declared."""
    part = store.part(KIND, dataset)
    key = key_of(part, FAMILY)
    rows = recompute.read(part) if part and key else DataFrame(columns=COLUMNS, dtype="str")
    return rows[rows["key"] == key].set_index("query_id")["value"]


def by_key(keys: Iterable[str], made: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the result of `made_by_key` for labels of these keys that were made together."""
    own = {name: made[name] for name in _OF_KEY if name in made}
    return {key: [own] for key in sorted({*keys})}


def made_by_key(part: Part) -> dict[str, list[dict[str, Any]]]:
    """Return, for each key, the command, date and file of each step that made its labels."""
    of = part.provenance
    return of["keys"] if "keys" in of else by_key(recompute.read(part)["key"], of)


def of_key(store: Store, dataset: str, key: str) -> int:
    """Return the number of labels of a key in a dataset. Raises Missing if there are none, and
    Conflict for the key of a training set."""
    if name := of_training(store, dataset).get(key):
        raise Conflict(
            f"{shown(key)} is what `leakage find` found on {dataset}: python -m compute remove"
            f" {dataset} --training {name} removes it"
        )
    part = store.part(KIND, dataset)
    known = Counter(recompute.read(part)["key"].tolist()) if part else Counter[str]()
    if key not in known:
        there = near(key, known) or f"known: {', '.join(sorted(known))}" if known else "it has none"
        raise Missing(f"{dataset} has no labels {shown(key)}: {there.strip()}")
    return known[key]


def drop(store: Store, dataset: str, key: str) -> int:
    """Remove the labels of a key, and return their number. Raises as `of_key` does."""
    with store.alone("import"):
        n = of_key(store, dataset, key)
        with store.publishing(f"remove labels of queries of {dataset}") as parts:
            _without(parts, store.part(KIND, dataset), key)
    return n


def read(
    file: Path, family: str | None = None, weight: str | None = None
) -> tuple[DataFrame, list[str]]:
    """Return the labels of a file (query_id, key, value, line), each once, and the fields left out.
    The file is a TSV of the first three columns, with or without a header; or BEIR's queries.jsonl,
    of which all fields with a word or number count except id, text and title, including those in
    `metadata`. Fields that make no query groups, such as a narrative or an address, are left out;
    the keys `family` and `weight` may have any number of values. Raises Missing or WrongInput."""
    first = next((line for line in trec.lines(file, 1) if line.strip()), "")
    of_fields = first.lstrip("\ufeff \t").startswith("{")
    found = _records(file) if of_fields else _of_lines(file)
    rows = DataFrame(found, columns=[*COLUMNS, "line"]).astype({"line": "int64"})
    rows, no_kinds = _of_kinds(rows, file, {family, weight}, left_out=of_fields)
    check_weights(rows[rows["key"] == weight], file)
    if rows.empty:
        besides = f" but {', '.join(map(shown, no_kinds))}, which make no query groups"
        raise WrongInput(
            f"{file} contains no label{besides * bool(no_kinds)}: give a file with labels"
        )
    if len(twice := rows[rows.duplicated(["query_id", "key"])]):
        query_id, key, _, line = twice.iloc[0]
        raise WrongInput(
            f"{file}, line {line}: query {shown(query_id)} has another {shown(key)} above; keep one"
        )
    return rows, no_kinds


def _of_kinds(
    rows: DataFrame, file: Path, roles: Collection[str | None], *, left_out: bool
) -> tuple[DataFrame, list[str]]:
    """Return the distinct rows of the keys that make query groups, and the keys left out. Unless
    keys may be `left_out`, raises WrongInput for the first of these."""
    rows = rows.drop_duplicates(COLUMNS, ignore_index=True)
    wrong = rows[~(rows["key"].map(_is_label) & rows["value"].map(_is_label))]
    values = rows[~rows["key"].isin(list(roles))].groupby("key")["value"].nunique()
    many = values[values > MOST_VALUES]
    if left_out:
        no_kinds = sorted({*wrong["key"], *many.index})
        return rows[~rows["key"].isin(no_kinds)], no_kinds
    if len(wrong):
        _, key, value, line = wrong.iloc[0]
        text = value if _is_label(key) else key
        raise WrongInput(
            f"{file}, line {line}: {shown(text)} is not a label: write at most {LONGEST}"
            " characters on one line"
        )
    if len(many):
        raise WrongInput(f"{file}: {_too_many(many.index[0], many.iloc[0])}")
    return rows, []


def _too_many(key: str, n: int) -> str:
    return f"{shown(key)} has {n:,} values: too many for query groups, keep at most {MOST_VALUES}"


def _is_label(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text.isprintable()


def _of_lines(file: Path) -> Iterator[tuple[str, str, str, int]]:
    """Yield query_id, key, value and line of each label in a TSV."""
    names = COLUMNS
    # Lines end as on Unix, Windows or old Macs.
    for number, line in enumerate(io.StringIO(compressed.utf8(file), newline=None), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 1 and {*cells} == {*COLUMNS}:
            names = cells
        if not any(cells) or (number == 1 and names is cells):
            continue
        if len(cells) != 3 or not all(cells):
            raise WrongInput(
                f"{file}, line {number}: not query_id, key and value separated by tabs, fix the"
                " line"
            )
        query_id, key, value = (cells[names.index(name)] for name in COLUMNS)
        yield query_id, key, value, number


def _records(file: Path) -> Iterator[tuple[str, str, str, int]]:
    """Yield query_id, key, value and line of each label in a queries.jsonl."""
    for number, line in enumerate(compressed.utf8(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            query_id, inner = record["_id"], record.get("metadata") or {}
            fields = {**record, **inner}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise WrongInput(
                f"{file}, line {number}: no query with an _id in JSON; fix the line"
            ) from None
        for key, value in fields.items():
            kind = key not in ("_id", "text", "title") and type(value) in (str, int, float, bool)
            if kind and (text := str(value).strip()):
                yield str(query_id), key.strip(), text, number


def _beside(
    old: Part | None, rows: DataFrame, roles: Collection[str], *, replace: bool
) -> DataFrame:
    """Return the rows together with the stored ones, without those that they `replace`. Raises
    Conflict for another label of a query, and WrongInput if a key then has too many values."""
    if old is not None:
        given = {*rows["key"]} - {*roles}
        stored = recompute.read(old)[COLUMNS]
        if replace:
            stored = stored[~stored["key"].isin(rows["key"])]
        rows = pd.concat([stored, rows]).drop_duplicates()
        if (other := rows.duplicated(["query_id", "key"])).any():
            raise Conflict(
                f"{shown(rows.loc[other.to_numpy(), 'key'].iloc[0])} has different labels on"
                f" {old.dataset}: replace them (--replace), or give these another key"
            )
        values = rows[rows["key"].isin(given)].groupby("key")["value"].nunique()
        if len(many := values[values > MOST_VALUES]):
            told = _too_many(many.index[0], many.iloc[0])
            raise WrongInput(f"with those on {old.dataset} {told}")
    return rows.sort_values(["key", "query_id"], ignore_index=True)


def said(part: Part) -> str:
    """Return a sentence such as `tiny now has 3 labels of 50 queries: topic (3 values)`."""
    rows = recompute.read(part)
    values = rows.groupby("key")["value"].nunique()
    named = [f"{key} ({counted(int(n), 'value')})" for key, n in values.items()]
    keys = several(named, _MOST_NAMED, "key")
    queries = counted(rows["query_id"].nunique(), "query")
    told = f"{part.dataset} now has {counted(len(rows), 'label')} of {queries}"
    told += f": {keys}" * bool(keys)
    if others := part.provenance.get("labels_of_other_queries"):
        told += f"; left out: {counted(others, 'label')} of queries that it does not have"
    if no_kinds := part.provenance.get("fields_left_out"):
        told += f"; left out, since they form no groups: {', '.join(map(shown, no_kinds))}"
    if key := key_of(part, FAMILY):
        told += f"; {shown(key)} names the families of queries, which tests and intervals resample"
    if key := key_of(part, WEIGHT):
        told += (
            f"; {shown(key)} weights queries in additional numbers: leave it out if the"
            " queries were sampled by it, since that would count it twice"
        )
    if name := key_of(part, BASELINE):
        told += f"; its baseline is {name}"
    return told

"""JSON of any form: tables of documents at any depth, rows with lists, rows of one document."""

import ast
import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets import compressed, names
from compute.datasets.names import JUDGED, LISTS, ROLES, RUN, plain
from compute.datasets.shapes.held import Held, How, Rows

_PARTS = {"name", "rankingkind", "embeddingvariantname", "system", "model", "tag"}
"""Fields whose values name one of several runs in a file."""
_ODD = "no query or no documents in it, as others have: fix it"
_ALL = (RUN, JUDGED, "")
_Place = tuple[str, str, int]
"""Role (empty: not known yet), part (name of the run) and line of the value that is being read."""


@dataclass
class _Found:
    """The rows found so far, in the order of the file."""

    file: str
    unit: str
    lists: dict[str, list[tuple[str, str, str, Any, int]]] = field(
        default_factory=lambda: {role: [] for role in _ALL}
    )
    """By role: part, query, document, number and line of each document in a list."""
    flat: list[dict[str, Any]] = field(default_factory=list)
    called: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    passages: dict[str, str] = field(default_factory=dict)
    empty: int = 0
    """Number of lists without documents."""
    asked: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Number of lists for each role, part and query."""
    later: dict[str, None] = field(default_factory=dict)
    """Queries with lists left out, as keys: lists in order of rank have no order between them."""
    differ: dict[str, None] = field(default_factory=dict)
    """Ids of documents with several texts, as keys."""

    def refuse(self, line: int, fault: str) -> WrongInput:
        """Return the error for a fault in this row."""
        return WrongInput(
            f"{self.file}, {self.unit} {line}: {fault}" if line else f"{self.file}: {fault}"
        )

    def ident(self, value: Any, line: int, what: str) -> str:
        """Return an id as text; a whole number becomes its digits. Raises WrongInput."""
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise self.refuse(line, f"{what} is {shown(repr(value))}; write ids as strings")

    def read(self, doc: str, text: str) -> None:
        """Store the text of a document; if there are several, the first is kept."""
        if self.passages.setdefault(doc, text) != text:
            self.differ[doc] = None

    def told(self) -> list[str]:
        """Return sentences on rows that were merged or left out."""
        again = {query: None for (*_, query), n in self.asked.items() if n > 1}
        merged = [query for query in again if query not in self.later]
        kinds = (
            ("list", "without a document left out", [""] * self.empty),
            ("query", "in several rows; the first list is kept", [*self.later]),
            ("query", "in several rows, which were merged", merged),
            ("document", "with several texts; the first is kept", [*self.differ]),
        )
        return [
            f"{counted(len(ids), noun)} {how}{f': {shown(ids[0])}' * bool(ids[0])}"
            for noun, how, ids in kinds
            if ids
        ]

    def take(self, value: Any, place: _Place, key: str = "", depth: int = 0) -> bool:
        """Read all rows in the value of a key; return whether it has any."""
        if depth > 50:
            raise self.refuse(place[2], "nested too deeply; is it the right file?")
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            return self._array(value, place, depth)
        if not isinstance(value, dict):
            return False
        of = {"queries": self.texts, "corpus": self.passages}.get(plain(key))
        if of is not None and all(isinstance(text, str) for text in value.values()):
            of.update(value)
            return False
        return (
            self._table(value, place)
            or self._record(value, place, key)
            or self._inner(value, place, key, depth)
        )

    def _array(self, value: list[dict[str, Any]], place: _Place, depth: int) -> bool:
        """Read the rows in a list of objects; all or none of them must have rows."""
        role, part, line = place
        rows = [
            self.take(one, (role, part, line or n), "", depth + 1) for n, one in enumerate(value, 1)
        ]
        if any(rows) and not all(rows):
            raise self.refuse(line or rows.index(False) + 1, _ODD)
        return all(rows)

    def _inner(self, value: dict[str, Any], place: _Place, key: str, depth: int) -> bool:
        """Read the rows in each value of an object, whose keys name roles or parts."""
        role, part, line = place
        found = False
        for name, child in value.items():
            inner = ROLES.get(plain(name), role)
            label = part if inner != role else f"{part}/{name}" if part else name
            found |= self.take(child, (inner, label, line), name, depth + 1)
        return found

    def _table(self, value: dict[str, Any], place: _Place) -> bool:
        """Read an object that maps queries to documents with numbers, or to lists of documents;
        return whether the value is one."""
        role = place[0]
        if {plain(name) for name in value} & {*ROLES} or not any(value.values()):
            return False
        inner = [*value.values()]
        if role:
            listed = all(isinstance(one, list | dict) and _listed(one) for one in inner)
        else:
            listed = all(isinstance(one, list) and not _has(one, dict) for one in inner)
        if not all(map(_numbered, inner)) and not listed:
            return False
        for query, documents in value.items():
            self._list(documents, place, query, {})
        return True

    def _record(self, value: dict[str, Any], place: _Place, key: str) -> bool:
        """Read a row with lists of documents or with one document; return whether it is one."""
        lists = {
            name: ROLES[plain(name)]
            for name, one in value.items()
            if plain(name) in ROLES and _listed(one)
        }
        value = self._with_texts(value, lists, place[2])
        found = names.columns(value)
        if not lists:
            if not {"query_id", "doc_id"} <= {*found}:
                return False
            self.called |= found
            row = {column: value[name] for column, name in found.items()}
            self.flat.append(row | {"line": place[2]})
            return True
        query = self._query(value, found, place[2]) or (key if plain(key) not in ROLES else "")
        if not query:
            raise self.refuse(
                place[2], f"no query id or text next to {shown(next(iter(lists)))}: add it"
            )
        label = "/".join(
            str(value[name]) for name in value if plain(name) in _PARTS and value[name]
        )
        for name, role in lists.items():
            self._list(value[name], (role, label or place[1], place[2]), query, value)
        return True

    def _with_texts(
        self, value: dict[str, Any], lists: dict[str, str], line: int
    ) -> dict[str, Any]:
        """Return a row whose lists of texts become lists of documents, unless it has other lists of
        that role. If one such list has as many ids as there are texts, these are its texts."""
        texts = {name: names.TEXTS[plain(name)] for name in value if plain(name) in names.TEXTS}
        for name, role in texts.items():
            given = value[name]
            if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
                continue
            beside = [value[other] for other, of in lists.items() if of == role]
            if not beside:
                lists[name] = role
                value = value | {name: [{"text": one} for one in given]}
            elif len(beside) == 1 and isinstance(beside[0], list) and not _has(beside[0], dict):
                ids = [self.ident(one, line, "a document") for one in beside[0]]
                if len(ids) == len(given):
                    for doc, text in zip(ids, given, strict=True):
                        self.read(doc, text)
        return value

    def _query(self, value: Mapping[str, Any], found: Mapping[str, str], line: int) -> str:
        """Return the id of a row's query, or else its text; empty if it has neither."""
        text = next((value[name] for name in value if names.may_be_text(name)), None)
        if isinstance(text, dict):  # such as {"qid": …, "text": …}
            value, found = text, names.columns(text)
            text = text.get("text")
        ids = next((name for name in value if plain(name) == "id"), "")
        name = (
            found.get("query_id", "") if not names.may_be_text(found.get("query_id", "")) else ids
        )
        if name and value.get(name) is not None:
            query = self.ident(value[name], line, name)
            if isinstance(text, str):
                self.texts.setdefault(query, text)
            return query
        if isinstance(text, str):
            self.called["query_id"] = "query"
        return text if isinstance(text, str) else ""

    def _list(self, documents: Any, place: _Place, query: str, beside: Mapping[str, Any]) -> None:
        """Read the list of documents of one query. Numbers come from the list, from a parallel list
        in the row, or from the order: a run's as scores, those of no known role as positions."""
        role, part, line = place
        rows = [*self._documents(documents, place, query)]
        self.empty += not rows
        self.asked[role, part, query] += 1
        beside_it = [v for k, v in beside.items() if plain(k) in names.NUMBERS.get(role, ())]
        scored = [one for _, one in rows if one is not None]
        if (
            len(beside_it) == 1
            and isinstance(beside_it[0], list)
            and len(beside_it[0]) == len(rows)
        ):
            rows = [(doc, number) for (doc, _), number in zip(rows, beside_it[0], strict=True)]
        elif isinstance(documents, dict):
            pass
        elif role == RUN and len(scored) < len(rows):
            if self.asked[role, part, query] > 1:
                self.later[query] = None
                return
            rows = [(doc, -float(n)) for n, (doc, _) in enumerate(rows, 1)]
        elif role == JUDGED and not scored:
            rows = [(doc, 1) for doc, _ in rows]
        elif not scored:
            rows = [(doc, n) for n, (doc, _) in enumerate(rows, 1)]
        self.lists[role] += [(part, query, doc, number, line) for doc, number in rows]

    def _documents(self, documents: Any, place: _Place, query: str) -> Iterator[tuple[str, Any]]:
        """Yield each document of a list with its number, or with None."""
        role, part, line = place
        if isinstance(documents, dict):
            yield from documents.items()
            return
        for one in [documents] if isinstance(documents, str) else documents or ():
            if not isinstance(one, dict):
                yield self.ident(one, line, f"a document of query {shown(query)}"), None
                continue
            one = {**one, **one["hit"]} if isinstance(one.get("hit"), dict) else one
            found = names.columns(one)
            name = next((name for name in one if plain(name) == "id"), found.get("doc_id", ""))
            text, doc = one.get(found.get("text", "")), one.get(found.get("doc_id") or name)
            if isinstance(text, str):
                doc = f"t{sha256(text.encode()).hexdigest()[:12]}" if doc is None else doc
            doc = self.ident(doc, line, f"a document of query {shown(query)}")
            if isinstance(text, str):
                self.read(doc, text)
            rating = next((one[name] for name in one if plain(name) == "rating"), None)
            if role == RUN and rating is not None:
                self.lists[JUDGED].append((part, query, doc, rating, line))
            number = one.get(found.get("relevance" if role == JUDGED else "score", ""))
            if (
                number is None
                and role == RUN
                and isinstance(rank := one.get(found.get("rank", "")), int)
            ):
                number = -rank
            yield doc, number


def held(path: Path, how: How) -> Held:
    """Return the content of a JSON file. Raises WrongInput with the line, or the row of a list."""
    text = compressed.utf8(path)
    records = _lines(path, text)
    found = _Found(str(path), "row" if records is None else "line")
    records = [(0, _parsed(path, text, 0))] if records is None else records
    try:
        if "\\u0000" not in text:
            return _held(found, records, how)
    except UnicodeEncodeError:  # half a pair
        pass
    raise WrongInput(f"{path}: an escape in it is not a valid character; fix it")


def of_parquet(path: Path, how: How) -> Held:
    """Return the content of a Parquet file. Raises WrongInput, which names the row."""
    with compressed.reading(path):
        try:
            schema = pq.read_schema(path)
            found = names.columns(schema.names)
            lists = any(plain(one.name) in LISTS and pa.types.is_nested(one.type) for one in schema)
            table = pq.read_table(path, columns=None if lists else [*found.values()])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise WrongInput(
                f"{path} cannot be read as Parquet ({error}): write it again"
            ) from None
    if lists:
        records = [*enumerate(table.to_pylist(), 1)]
        return _held(_Found(str(path), "row"), records, how)
    if lacking := names.lacking(found):
        told = ", ".join(map(shown, schema.names[:8]))
        raise WrongInput(f"{path}: no one column {lacking} in {told}: name it so")
    for needed in ("query_id", "doc_id"):
        if pa.types.is_floating(kind := table[found[needed]].type) or pa.types.is_nested(kind):
            raise WrongInput(f"{path}: {found[needed]} is of the type {kind}: write ids as strings")
    columns = {of: table[name] for of, name in found.items()}
    for of in {*columns} & {"relevance", "text"}:
        columns[of] = columns[of].cast(pa.string())
    lines = pa.array(np.arange(1, table.num_rows + 1), pa.int64())
    table = pa.table(columns | {"line": lines})
    return Held.of(Rows.of_columns(str(path), table, "Parquet", "row", found), how)


def of_csv(path: Path, between: str, how: How) -> Held:
    """Return the content of a CSV file with lists in cells, as JSON or Python writes them."""
    found = _Found(str(path), "line")
    reader = csv.DictReader(io.StringIO(compressed.utf8(path), newline=""), delimiter=between)
    records = []
    try:
        for row in reader:
            cells = {name: cell for name, cell in row.items() if name is not None}
            for name in cells:
                if plain(name) in LISTS:
                    cells[name] = _cell(found, cells[name] or "", reader.line_num)
            records.append((reader.line_num, cells))
    except csv.Error as error:
        raise found.refuse(reader.line_num, f"{error}; fix the line") from None
    return _held(found, records, how)


def _cell(found: _Found, cell: str, line: int) -> Any:
    """Return the list in a cell, or the text of a cell without brackets."""
    try:
        return ast.literal_eval(cell.strip()) if cell.strip()[:1] in ("[", "{") else cell or []
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise found.refuse(
            line, (f"{shown(cell)} is not a list of documents; fix the line")
        ) from None


def _held(found: _Found, records: Sequence[tuple[int, Any]], how: How) -> Held:
    """Read all records, and return their content by role."""
    taken = [found.take(one, ("", "", line)) for line, one in records]
    if any(taken) and not all(taken):
        raise found.refuse(records[taken.index(False)][0], _ODD)
    lists = {role: _of(found, role, how) for role in _ALL if found.lists[role]}
    if RUN in lists or JUDGED in lists:
        run, judged = lists.get(RUN), lists.get(JUDGED)
        more: dict[str, Any] = {"texts": found.texts, "passages": found.passages}
        return Held(found.file, "JSON", run, judged, remarks=found.told(), **more)
    if found.flat:
        return Held.of(_flat(found), how)
    if lists:
        return replace(Held.of(lists[""], how), passages=found.passages)
    raise WrongInput(
        f"{found.file}: no queries with documents in it, such as"
        ' {"q1": {"d1": 0.9}} or [{"query_id": "q1", "retrieved_ids": ["d1"]}]: name them so'
    )


def _of(found: _Found, role: str, how: How) -> Rows:
    """Return the rows of a role, restricted to the part that the user chose. Raises WrongInput for
    an unknown part, or for several rankings of one query."""
    rows = found.lists[role]
    of: dict[str, str] = {}
    parts = dict.fromkeys(part for part, *_ in rows)
    if how.part and role != JUDGED:
        if how.part not in parts:
            raise WrongInput(
                f"{found.file}: no part {shown(how.part)}; it has {', '.join(map(shown, parts))}"
            )
        rows = [row for row in rows if row[0] == how.part]
    elif len(parts) > 1 and any(of.setdefault(query, part) != part for part, query, *_ in rows):
        told = ", ".join(map(shown, list(parts)[:5])) + (", …" if len(parts) > 5 else "")
        fault = f"{len(parts)} rankings of the same queries ({told}): say --part with one of them"
        raise WrongInput(f"{found.file}: {fault}")
    _, queries, documents, numbers, lines = zip(*rows, strict=True)
    name = {RUN: "score", JUDGED: "relevance"}.get(role, "number")
    columns = {
        "query_id": pa.array(queries, pa.string()),
        "doc_id": pa.array(documents, pa.string()),
        name: _column(found, name, numbers, lines),
    }
    table = pa.table(columns | {"line": pa.array(lines, pa.int64())})
    return Rows(found.file, table, "JSON", found.unit, found.called, ordered=False)


def _flat(found: _Found) -> Rows:
    """Return the rows that have one document each."""
    lines = [row["line"] for row in found.flat]
    columns: dict[str, pa.Array] = {}
    for name in ("query_id", "doc_id"):
        columns[name] = pa.array(
            [found.ident(row.get(name), row["line"], name) for row in found.flat], pa.string()
        )
    for name in ("score", "rank", "relevance", "tag", "text"):
        if name == "text" and len(columns) == 2:
            break
        values = [row.get(name) for row in found.flat]
        if name in found.called and any(value is not None for value in values):
            columns[name] = _column(found, name, values, lines)
    if len(columns) == 2:
        raise found.refuse(0, "no score, rank or relevance for its documents: add one")
    table = pa.table(columns | {"line": pa.array(lines, pa.int64())})
    return Rows.of_columns(found.file, table, "JSON", found.unit, found.called)


def _column(found: _Found, name: str, values: Sequence[Any], lines: Sequence[int]) -> pa.Array:
    """Return values as a column: numbers if it is `score` or `rank`, otherwise texts, or JSON, such
    as true. Raises WrongInput for a score or rank that is not a number."""
    if name not in ("score", "rank"):
        words = [one if one is None or isinstance(one, str) else json.dumps(one) for one in values]
        return pa.array(words, pa.string())
    for value, line in zip(values, lines, strict=True):
        if type(value) not in (int, float):
            raise found.refuse(line, f"the score is {shown(repr(value))}, not a number: fix it")
    return pa.array(map(float, values), pa.float64())


def _numbered(value: Any) -> bool:
    """Return whether a value is an object whose values are all numbers."""
    return isinstance(value, dict) and all(type(one) in (int, float) for one in value.values())


def _listed(value: Any) -> bool:
    """Return whether a value may contain the documents of one query: a list of ids or objects, an
    object of numbers or words, one id, or null. Objects with a query or lists are excluded."""
    if isinstance(value, dict):
        return not _has(value.values(), dict | list)
    if not isinstance(value, list) or _has(value, list):
        return value is None or isinstance(value, str)
    rows = (one for one in value if isinstance(one, dict))
    return not any(names.asks(one) or {*map(plain, one)} & {*ROLES} for one in rows)


def _has(values: Iterable[Any], kind: type | UnionType) -> bool:
    """Return whether any of the values has this type."""
    return any(isinstance(one, kind) for one in values)


def _lines(path: Path, text: str) -> list[tuple[int, Any]] | None:
    """Return line and record of a file with one record per line; None for other files."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2:
        return None
    try:
        json.loads(lines[0][1])
    except (ValueError, RecursionError):
        return None
    return [(number, _parsed(path, line, number)) for number, line in lines]


def _parsed(path: Path, text: str, line: int) -> Any:
    """Return the JSON value of a text. Raises WrongInput with the line, also for a repeated key."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))
            where = f"{path}, line {line}" if line else str(path)
            raise WrongInput(f"{where}: the key {shown(twice)} occurs twice: keep one of them")
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise WrongInput(
            f"{path}, line {line or error.lineno}: not JSON ({error.msg}); fix the line"
        ) from None
    except (ValueError, RecursionError):
        raise WrongInput(
            f"{path}: JSON nested too deeply, or a number of too many digits"
        ) from None

"""Records of the BEIR layout, line by line, and messages about faulty lines."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets.names import column_of
from compute.datasets.scripts import segmented

LONGEST_LINE = 64 * 1024 * 1024
"""Maximum bytes of a line. A longer line is not a document, and would only fill the memory."""

HEADER = "query-id corpus-id score, separated by tabs"
"""The first line of a qrels file, as messages describe it."""

QRELS = ("query_id", "doc_id", "relevance")
"""The columns of a qrels file, below the header."""
WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
"""Matches a whole number as trec_eval accepts it; a leading plus and leading zeros are harmless."""

NARRATIVES = ("desc", "description", "narr", "narrative")
"""The fields of a query that make its narrative, in this order."""

_BOM = b"\xef\xbb\xbf"
_DIGITS = 9
"""Maximum number of digits of a relevance."""
_UNFIT = re.compile(r"[\x00-\x20\x7f\ufeff]")


class Trouble(NamedTuple):
    """A fault: its kind in a few words, its place, a description, and the next step."""

    kind: str
    file: str
    line: int
    """The line number, counted from 1; 0 means the whole file."""
    fault: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file} line {self.line}" if self.line else self.file
        return f"{place}: {self.fault}: {self.remedy}"


Problem = Callable[[Trouble], None]
"""A function that is called with each fault."""

Record = TypeVar("Record")


class Document(NamedTuple):
    """A document; `title` is empty if there is none."""

    doc_id: str
    title: str
    text: str


class Query(NamedTuple):
    """A query of any split."""

    query_id: str
    text: str
    narrative: str = ""
    """What its author is looking for: TREC's description and narrative, as paragraphs."""


class Judgement(NamedTuple):
    """The relevance of a document to a query; 0 or less means not relevant."""

    query_id: str
    doc_id: str
    relevance: int


class BadLine(Exception):
    """Raised for a line without a record: `kind` in a few words, the fault, and the next step."""

    def __init__(self, kind: str, fault: str, remedy: str) -> None:
        super().__init__(f"{fault}: {remedy}")
        self.kind = kind
        self.fault = fault
        self.remedy = remedy


def refuse(trouble: Trouble) -> NoReturn:
    """Raise WrongInput at the first problem, as all readers do except the command `check`."""
    raise WrongInput(str(trouble))


def n_words(*texts: str) -> int:
    """Return the total number of words in these texts, such as title and text of a document. White
    space separates words; in texts that `segmented` changes, dictionaries do."""
    return sum(len(segmented(text).split()) for text in texts)


def lines(stream: BinaryIO, where: str, problem: Problem) -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and text of every line that is not blank, without its line end. A
    byte order mark and CRLF are removed. A line that is not UTF-8 is passed to `problem`; a line
    longer than LONGEST_LINE raises WrongInput."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise WrongInput(
                f"{where} line {number}: longer than {LONGEST_LINE:,} bytes: is it the right file?"
            )
        if number == 1:
            line = line.removeprefix(_BOM)
        if not line.strip():
            continue
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            fault = f"byte {error.start + 1} is not UTF-8"
            problem(Trouble("not UTF-8", where, number, fault, "save the file as UTF-8"))


def records(
    stream: BinaryIO, where: str, parse: Callable[[str], Record], problem: Problem
) -> Iterator[tuple[int, Record]]:
    """Yield the number and record of each line; `problem` gets the lines that `parse` refuses."""
    for number, line in lines(stream, where, problem):
        try:
            record = parse(line)
        except BadLine as bad:
            problem(Trouble(bad.kind, where, number, bad.fault, bad.remedy))
        else:
            yield number, record


def document(line: str) -> Document:
    """Return the document in a line of corpus.jsonl. Raises BadLine."""
    fields = _object(line)
    return Document(_id(fields), _text(fields, "title", line, ""), _text(fields, "text", line))


def query(line: str) -> Query:
    """Return the query in a line of queries.jsonl. Raises BadLine."""
    fields = _object(line)
    text, more = _text(fields, "text", line), fields.get("metadata")
    both = (fields, more) if isinstance(more, dict) else (fields,)
    found = [one.get(name) for name in NARRATIVES for one in both]
    return Query(_id(fields), text, narrative(text, [one for one in found if isinstance(one, str)]))


def narrative(text: str, paragraphs: Iterable[str]) -> str:
    """Return a query's narrative: its distinct paragraphs, without one that repeats its text. Half
    of a surrogate pair, which is no character, becomes a question mark."""
    found = dict.fromkeys(one.strip().encode("utf-8", "replace").decode() for one in paragraphs)
    return "\n\n".join(one for one in found if one and one != text.strip())


def judgement(line: str, order: Sequence[str] = QRELS) -> Judgement:
    """Return the judgement in a line of qrels with columns in this order. Raises BadLine."""
    columns = line.split("\t")
    if len(columns) != 3:
        raise BadLine("wrong number of columns", *_not_three(line))
    query_id, doc_id, relevance = (columns[order.index(name)] for name in QRELS)
    for column in (query_id, doc_id):
        _fit(column)
    found = WHOLE.fullmatch(relevance.strip())
    if found is None or len(found[1].lstrip("+-")) > _DIGITS:
        raise BadLine(
            "relevance not a whole number",
            f"relevance {relevance[:40]!r} is not a whole number of at most {_DIGITS} digits",
            "write 0, 1, 2, …",
        )
    return Judgement(query_id, doc_id, int(found[1]))


def reads_as_number(value: bytes | str) -> bool:
    """Return whether a text is a number, including NaN and the infinities."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def header(line: str) -> tuple[str, ...]:
    """Return QRELS in the order of a qrels file's header. Unknown names are taken to be in the
    usual order. Raises BadLine if the line cannot be a header."""
    columns = line.split("\t")
    if len(columns) != 3:
        fault, remedy = _not_three(line)
        remedy = f"{remedy}; the first line must be {HEADER}"
        raise BadLine("wrong number of columns", fault, remedy)
    if reads_as_number(columns[2]):
        raise BadLine("no header", "a judgement, not the header", f"put {HEADER}, above it")
    found = tuple("relevance" if name == "score" else name for name in map(column_of, columns))
    if set(found) == {*QRELS}:
        return found
    pairs = zip(found, QRELS, strict=True)
    if "rank" in found or any(name in QRELS and name != own for name, own in pairs):
        fault = f"the columns have the names {', '.join(map(shown, columns))}"
        raise BadLine("columns of other names", fault, f"the first line must be {HEADER}")
    return QRELS


def _not_three(line: str) -> tuple[str, str]:
    """Return the fault of a qrels line without three tab-separated columns, and the next step."""
    tabs, blanks = len(line.split("\t")), len(line.split())
    if tabs == 1 and blanks == 3:
        return "3 columns separated by spaces", "put one tab between them"
    if tabs in (1, 4) and blanks == 4:
        return "4 columns, as TREC's qrels have", "omit the second and separate the others by tabs"
    return f"{counted(tabs, 'column')}, not 3", "separate them by one tab"


def _object(line: str) -> dict[str, Any]:
    """Return the JSON object in a line. Raises BadLine."""
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        fault = f"not JSON ({error.msg} at character {error.pos + 1})"
        raise BadLine("broken JSON", fault, "fix or remove the line") from None
    except (ValueError, RecursionError):
        fault = "JSON nested too deeply, or a number of too many digits"
        raise BadLine("excessive JSON", fault, "fix or remove the line") from None
    if not isinstance(fields, dict):
        raise BadLine("no JSON object", "not a JSON object", 'write {"_id": …, "text": …}')
    if any(line.count(f'"{key}"') > 1 for key in fields):  # Only then is a closer check worthwhile.
        json.loads(line, object_pairs_hook=_refuse_repeated)
    return fields


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    """Raise BadLine for a key that occurs twice, since JSON readers disagree about its value."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise BadLine("repeated key", f"the key {shown(key)} occurs twice", "keep one of them")
        seen.add(key)


def _id(fields: dict[str, Any]) -> str:
    """Return the id as text; a whole number becomes its digits, as in qrels. Raises BadLine."""
    value = fields.get("_id")
    if value is None:
        raise BadLine("missing _id", "no _id", "give every record its own _id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise BadLine("unfit id", f"_id is {_type(value)}", "write it as a string")
    _fit(value)
    return value


def _fit(identifier: str) -> None:
    """Raise BadLine for an id that is empty or cannot be used in a run file."""
    # Run files separate columns by white space, so an id must not contain any.
    if not identifier or _UNFIT.search(identifier) or not _encodable(identifier):
        what = (
            f"id {identifier[:40]!r} is empty or contains white space, a control character or a"
            " byte"
            " order mark"
        )
        raise BadLine("unfit id", what, "use another")


def _text(fields: dict[str, Any], key: str, line: str, default: str | None = None) -> str:
    """Return the text under a key; null counts as empty. Raises BadLine."""
    value = fields.get(key, default)
    if value is None and key in fields:
        return ""
    if value is None:
        found = ", ".join(fields)[:80]
        raise BadLine(
            f"missing {key}",
            f"no {key}, its keys are {found}" if found else f"no {key}",
            f'write "{key}": "" if there is none',
        )
    if not isinstance(value, str):
        raise BadLine(f"{key} not a string", f"{key} is {_type(value)}", "write it as a string")
    # Only an escape in JSON can yield half a pair (\ud83d), which UTF-8 cannot encode, so only
    # lines with such an escape are checked.
    if ("\\ud" in line or "\\uD" in line) and not _encodable(value):
        fault = f"{key} contains half of a surrogate pair, which is no character"
        raise BadLine("half a surrogate pair", fault, "write both halves, or remove it")
    return value


def _encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _type(value: Any) -> str:
    """Return JSON's name for the type of a value that is not a string."""
    kinds = {bool: "true or false", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")

"""Reads grades of LLMs from files, or derives grades from a run's scores. They are a separate
source: no rule mixes them with official or added judgements, and they count only if their judgement
set is chosen (`sets`)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import compressed, shapes, trec
from compute.datasets.qrels import read_qrels
from compute.judgements.exchange import grade

KIND = "machine_grades"
"""Kind of parts that hold LLM grades; their system is the name of the LLM."""
QRELS, JSONL = "qrels", "jsonl"
_PAIR = ["query_id", "doc_id"]
_IDS = ("query_id", "qid"), ("doc_id", "docid")
"""Possible names of the two id fields in a JSONL record."""


@dataclass(frozen=True)
class GradeFile:
    """Grades of an LLM for pairs, as read from a file."""

    form: str
    rows: DataFrame
    """query_id, doc_id, relevance and, except for qrels, line."""
    of_texts: DataFrame
    """query and passage (texts), relevance and line of records without ids."""
    n_failed: int = 0
    """Number of pairs for which the LLM gave no readable grade."""


def read(path: Path, how: shapes.How | None = None) -> GradeFile:
    """Read the grades in a file: judgements in any format (`shapes`), or umbrela's records as
    JSONL. An umbrela record has `judgment`, and either ids (qid and docid, or query_id and doc_id)
    or only the texts `query` and `passage`. If its `result_status` is 0, the model gave no grade,
    and the 0 in the record is not a grade. Such records, and null or empty grades in any format,
    are only counted. Raises Missing or WrongInput with file and line."""
    how = how or shapes.How()
    none = DataFrame(columns=["query", "passage", "relevance", "line"])
    if _is_umbrela(path):
        return _jsonl(path)
    if held := shapes.held(path, how):
        table, told = held.as_judged(how, nulls=True)
        found = table.to_pandas().astype({"line": "int64"})
        graded = found.dropna().astype({"relevance": "int64"})
        form = held.form + (f"; {told}" if told else "")
        return GradeFile(form, once(graded, path), none, len(found) - len(graded))
    return GradeFile(QRELS, read_qrels(path, how), none)


def _is_umbrela(path: Path) -> bool:
    """Return whether the file begins with an umbrela record."""
    if shapes.is_parquet(path):
        return False
    first = next((line for line in trec.lines(path) if line.strip()), "")
    return re.match(r'\s*\{(?!\s*$)(?!\s*"[^"]*"\s*:\s*[{[])', first) is not None


def once(rows: DataFrame, path: Path) -> DataFrame:
    """Return each pair once. Raises WrongInput, with the line, if a pair has two grades."""
    rows = rows.drop_duplicates([*_PAIR, "relevance"], ignore_index=True)
    twice = rows[rows.duplicated(_PAIR)]
    if len(twice):
        query_id, doc_id, line = twice.iloc[0][[*_PAIR, "line"]]
        raise WrongInput(
            f"{path}, line {line}: query {shown(query_id)} and document {shown(doc_id)} have"
            " a different grade above; keep one of the lines"
        )
    return rows


def _jsonl(path: Path) -> GradeFile:
    """Read umbrela's records."""
    named: list[tuple[str, str, int, int]] = []
    texts: list[tuple[str, str, int, int]] = []
    n_failed = 0
    for number, line in enumerate(compressed.utf8(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        record = _record(line, where)
        if record.get("result_status") == 0 or record.get("judgment", 0) in (None, ""):
            n_failed += 1
            continue
        ids = _ids(record)
        pair = ids or _texts(record)
        if pair is None:
            raise WrongInput(f"{where}: no qid and docid, nor query and passage: add the ids")
        (named if ids else texts).append((*pair, _judgment(record, where), number))
    rows = DataFrame(named, columns=[*_PAIR, "relevance", "line"])
    unnamed = DataFrame(texts, columns=["query", "passage", "relevance", "line"])
    return GradeFile(JSONL, once(rows, path), unnamed, n_failed)


def _record(line: str, where: str) -> Mapping[str, Any]:
    """Parse a line as a JSON object. Raises WrongInput with the line."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise WrongInput(f"{where}: not JSON, fix or remove the line") from None
    if not isinstance(record, dict):
        raise WrongInput(f'{where}: no record of JSON, such as {{"qid": …}}; fix the line')
    # An escape can stand for NUL or for half a character, which no text file can hold.
    if re.search(r"\\u(d[89a-f]|0000)", line, re.IGNORECASE) and not _is_text(record):
        raise WrongInput(f"{where}: an escape in it is not a valid character; fix the line")
    return record


def _is_text(record: Mapping[str, Any]) -> bool:
    whole = json.dumps(record, ensure_ascii=False)
    return "\\u0000" not in whole and not re.search("[\ud800-\udfff]", whole)


def _ids(record: Mapping[str, Any]) -> tuple[str, str] | None:
    found = [next((record[n] for n in names if n in record), None) for names in _IDS]
    # An integer is also an id, as in qrels; `true` is not.
    ids = [str(value) for value in found if type(value) in (str, int) and value != ""]
    return (ids[0], ids[1]) if len(ids) == 2 else None


def _texts(record: Mapping[str, Any]) -> tuple[str, str] | None:
    query, passage = (record.get(name) for name in ("query", "passage"))
    return (query, passage) if isinstance(query, str) and isinstance(passage, str) else None


def _judgment(record: Mapping[str, Any], where: str) -> int:
    """Return a record's grade. Raises WrongInput with the line."""
    given = record.get("judgment")
    if type(given) not in (int, float, str):
        raise WrongInput(f"{where}: no judgment (umbrela's spelling): fix or remove the line")
    found = grade(str(given), where, "judgment")
    if found is None:
        raise WrongInput(f"{where}: judgment is blank, fix or remove the line")
    return found


def from_scores(hits: DataFrame, thresholds: Sequence[float]) -> DataFrame:
    """Turn a run's hits into grades: query_id, doc_id, relevance. The relevance is the number of
    thresholds that the score reaches. Raises WrongInput unless the thresholds ascend."""
    numbers = np.array(thresholds, np.float64)
    if not len(numbers) or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
        told = " ".join(f"{number:g}" for number in numbers)
        raise WrongInput(
            f"the thresholds {told or '(none)'} do not ascend: give the least score of"
            " grade 1, then that of grade 2, and so on"
        )
    reached = np.searchsorted(numbers, hits["score"].to_numpy(np.float64), side="right")
    return hits[_PAIR].assign(relevance=reached.astype(np.int32)).reset_index(drop=True)


def at_quantiles(hits: DataFrame, shares: Sequence[float]) -> list[float]:
    """Return the scores below which these shares of a run's hits lie. Raises WrongInput if they are
    not shares, or if two of them have the same score."""
    if any(math.isnan(share) or not 0 < share < 1 for share in shares):
        raise WrongInput("quantiles are shares between 0 and 1, such as 0.5 0.9: fix them")
    found = [float(score) for score in np.quantile(hits["score"], list(shares))]
    for share, after, score, last in zip(shares, shares[1:], found, found[1:], strict=False):
        if share < after and score == last:
            raise WrongInput(
                f"the quantiles {share:g} and {after:g} have the same score, {score:g}: choose"
                " shares farther apart, or --thresholds"
            )
    return found

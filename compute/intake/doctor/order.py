"""The order of a run file's lines against its ranks and scores: ties, unsorted lists, odd ranks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from compute.intake.doctor.report import Tally, Where

PIECES, TIED, CONTRADICTED, LOWER = (
    "list in pieces",
    "tied with another hit",
    "rank contradicts score",
    "lower scores look better",
)
_BY_SCORE = "the rank column is ignored: lists are ranked by score, highest first"
_NEGATIVE = "the highest score ranks first: if low scores are good, as for distances, negate them"


@dataclass(frozen=True)
class _Lines:
    """The columns of a run file as arrays, with one value per line of data, in file order."""

    table: pa.Table

    @property
    def has_ranks(self) -> bool:
        """Whether the file has both ranks and scores."""
        return "rank" in self.table.column_names

    @cached_property
    def query(self) -> np.ndarray:
        """Query number of each line."""
        return _codes(self.table["query_id"]).indices.to_numpy()

    @cached_property
    def score(self) -> np.ndarray:
        """Scores as compared in rankings: in 32 bits, where larger ones are infinite."""
        with np.errstate(over="ignore"):
            return self.table["score"].to_numpy().astype(np.float32)

    @cached_property
    def rank(self) -> np.ndarray:
        """The rank of each line; NaN if it is not a number."""
        ranks = _codes(self.table["rank"])
        values = np.array([_number(value) for value in ranks.dictionary.to_pylist()])
        return values[ranks.indices.to_numpy()]

    @cached_property
    def follows(self) -> np.ndarray:
        """Whether each line, from the second on, has the same query as the line before."""
        return self.query[1:] == self.query[:-1]

    @cached_property
    def starts(self) -> np.ndarray:
        """Index of the first line of each piece of a list."""
        return np.append(0, np.flatnonzero(~self.follows) + 1)

    @cached_property
    def rises(self) -> np.ndarray:
        """Indexes of the lines with a higher score than the line before, of the same query."""
        return np.flatnonzero((self.score[1:] > self.score[:-1]) & self.follows) + 1

    @cached_property
    def contradict(self) -> np.ndarray:
        """Indexes of lines whose rank and score both rise, or both fall, within a query."""
        rank, score = self.rank, self.score
        both = (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
        both |= (rank[1:] < rank[:-1]) & (score[1:] < score[:-1])
        return np.flatnonzero(both & self.follows) + 1

    def name(self, at: int) -> str:
        """Return the query of a line."""
        return self.table["query_id"][at].as_py()

    def text(self, column: str, at: int) -> str:
        """Return a value as written in the file, or as it was read."""
        value = self.table[column][at].as_py()
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else f"{value:g}"


def remark_order(table: pa.Table, file: str, tally: Tally) -> None:
    """Report ties, lists that are in pieces or not sorted by score, and ranks that contradict
    scores. `table` has query_id, score and, if any, rank of a run file, and `line` if places are to
    be reported; it is not changed."""
    found = _Lines(table)

    def tell(what: str, count: int, at: int, example: str, treatment: str) -> None:
        where = Where(file, table["line"][at].as_py() if "line" in table.column_names else 0)
        tally.remark(what, example, where, treatment, int(count))

    _ties(found, tell)
    _sorting(found, tell)
    if found.has_ranks:
        _ranks(found, tell)
    _upside_down(found, tell)


_Tell = Callable[[str, int, int, str, str], None]


def _ties(found: _Lines, tell: _Tell) -> None:
    """Report hits of one query with equal scores."""
    order, same = None, found.follows & (found.score[1:] == found.score[:-1])
    if len(found.rises) or _n_pieces(found):  # equal scores need not be on adjacent lines
        order = np.lexsort((found.score, found.query))
        query, score = found.query[order], found.score[order]
        same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    if same.any():
        tied = np.flatnonzero(same) + 1
        at = int(tied[0] if order is None else order[tied].min())
        # As an import does, this counts every hit of a tie, including the first.
        count = (np.append(same, False) | np.append(False, same)).sum()
        share = f"{count:,} of {len(found.score):,} hits"
        example = f"{share}, as query {found.name(at)!r}, score {found.text('score', at)}"
        tell(TIED, count, at, example, "ranked by document id, descending, as trec_eval does")


def _n_pieces(found: _Lines) -> int:
    """Return how many pieces the split lists have beyond one each."""
    return len(found.starts) - len(np.unique(found.query[found.starts]))


def _sorting(found: _Lines, tell: _Tell) -> None:
    """Report lists that are not sorted by score, or are in pieces."""
    if len(found.rises):
        at = int(found.rises[0])
        high, low = found.text("score", at), found.text("score", at - 1)
        example = f"query {found.name(at)!r}, score {high} below {low}"
        lists = len(np.unique(found.query[found.rises]))
        tell("list not sorted by score", lists, at, example, "sorted by score, highest first")
    if pieces := _n_pieces(found):
        _, first = np.unique(found.query[found.starts], return_index=True)
        at = int(np.delete(found.starts, first)[0])
        example = f"query {found.name(at)!r} again, after other queries, at hit {at + 1:,}"
        example += f" (in all {pieces:,} such)" * (pieces > 1)
        tell(PIECES, pieces, at, example, "brought together")


def _ranks(found: _Lines, tell: _Tell) -> None:
    """Report ranks that are not numbers, are all the same, or contradict the scores."""
    rank = found.rank
    words = np.flatnonzero(np.isnan(rank))
    if len(words):
        at = int(words[0])
        example = f"rank {found.text('rank', at)[:40]!r}"
        tell("rank is not a number", len(words), at, example, _BY_SCORE)
    if found.follows.any() and not len(words) and (rank == rank[0]).all():
        example = f"rank {found.text('rank', 0)} on every line"
        tell("the same rank everywhere", len(rank), 0, example, _BY_SCORE)
        return
    if len(found.contradict):
        at = int(found.contradict[0])
        ranks, scores = (
            f"{name} {found.text(name, at - 1)} before {found.text(name, at)}"
            for name in ("rank", "score")
        )
        example = f"query {found.name(at)!r}, {ranks}, {scores}"
        tell(CONTRADICTED, len(found.contradict), at, example, _BY_SCORE)


def _upside_down(found: _Lines, tell: _Tell) -> None:
    """Report if most scores rise down the lists, by informative ranks or else by line."""
    n = int(found.follows.sum())
    rank = found.rank if found.has_ranks else np.full(len(found.score), np.nan)
    tells = not np.isnan(rank).any() and bool((rank != rank[0]).any())
    wrong = found.contradict if tells else found.rises
    if len(wrong) > n / 2:
        at = int(wrong[0])
        high, low = found.text("score", at), found.text("score", at - 1)
        of = "ranks" if tells else "lines"
        example = (
            f"scores rise with the {of} in {len(wrong):,} of {n:,} steps, as query"
            f" {found.name(at)!r}, {low} before {high}"
        )
        tell(LOWER, len(wrong), at, example, _NEGATIVE)


def _codes(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the column in one piece, copied only if it has several."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")

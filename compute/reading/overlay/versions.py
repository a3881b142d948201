"""Versions of a reading with added judgements: the view of each cursor, and their cache."""

import itertools
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements import Choice
from compute.reading import one_kind
from compute.reading.database import JUDGEMENTS, Reading
from compute.reading.overlay.counting import Official, Overlay, Tally
from compute.reading.overlay.views import SCHEMAS
from compute.store.store import Store

KEPT = 4
"""Maximum number of a choice's versions that stay readable, in addition to those in use."""
_READ = "select max(id), list(distinct source) from added_judgements"
CHOICES = 4
"""Maximum number of choices whose scores are kept, in addition to those in use."""


class Overlays:
    """A reading with added judgements, open to any number of threads. `known` is passed to the
    overlays of every version of one store, so that results they share are read once."""

    def __init__(
        self, store: Store, reading: Reading, known: dict[str, Official] | None = None
    ) -> None:
        self.reading = reading
        self._store = store
        with reading.cursor() as cursor:
            cursor.execute(SCHEMAS)
            last, sources = cursor.execute(_READ).fetchall()[0]
        self._read: int = last or 0
        """The last judgement in the reading's table of added judgements."""
        self._sources = set(sources or ())
        """Sources of the judgements in the table."""
        self._reads = threading.Lock()
        self._tally = Tally(reading, {} if known is None else known)
        self._counts = threading.Lock()
        self._overlays: list[Overlay] = []
        """The overlays, the most recently used one last."""
        self._in_use: Counter[tuple[int, int]] = Counter()
        """Number of users by overlay and version."""
        self._numbers = itertools.count()
        self._schemas: dict[frozenset[str], str] = {}
        """Schemas with views over only some datasets, by these."""
        self._narrows = threading.Lock()

    @contextmanager
    def cursor(
        self,
        seen: int,
        choice: Choice | None = None,
        queries: DataFrame | None = None,
        datasets: Collection[str] = (),
    ) -> Iterator[DuckDBPyConnection]:
        """Yield a connection for one thread, for the with-block. `seen` is the id of the last added
        judgement that it sees. With a choice, scores, means and judgements are official + added by
        that choice; without one, they are official. `queries` (dataset, query_id) restricts them to
        these queries, as `one_kind.alone` does. If only `datasets` are read, without `choice` and
        `queries`, query planning is faster."""
        with self._cursor(seen, choice) as cursor:
            if queries is None:
                if datasets and choice is None:
                    only = self.narrow(datasets)
                    cursor.execute(f"set search_path = 'seen,{only},main'")
                yield cursor
                return
            with one_kind.alone(cursor, queries):
                yield cursor

    @contextmanager
    def _cursor(self, seen: int, choice: Choice | None) -> Iterator[DuckDBPyConnection]:
        """Yield a connection that sees the judgements up to `seen`, by this choice."""
        self._read_judgements(seen)
        with self.reading.cursor() as cursor:
            cursor.execute("set variable seen = ?", [seen])
            if choice is None:
                cursor.execute("set search_path = 'seen,main'")
                yield cursor
                return
            # A source without judgements is dropped, so that no equal choice is counted again.
            there = tuple(source for source in choice.sources if source in self._sources)
            with self._using(replace(choice, sources=there), seen) as number:
                cursor.execute("set variable overlay = ?", [number])
                cursor.execute("set search_path = 'added,main'")
                yield cursor

    def narrow(self, datasets: Collection[str]) -> str:
        """Return the schema of only these datasets, which is created at first use."""
        of = frozenset(datasets)
        with self._narrows:
            if of not in self._schemas:
                schema = f"only_{len(self._schemas)}"
                try:
                    self.reading.narrow(self._store.home, of, schema)
                except duckdb.Error:
                    # A file is damaged, which concerns only the queries that read it.
                    schema = "main"
                self._schemas[of] = schema
            return self._schemas[of]

    def _read_judgements(self, seen: int) -> None:
        """Add the judgements up to `seen` that the reading's table lacks."""
        with self._reads:
            if seen <= self._read:
                return
            rows = self._store.added_judgements(self._read)
            with self.reading.cursor() as cursor:
                table = pa.Table.from_pandas(rows, JUDGEMENTS, preserve_index=False)
                cursor.register("fresh", table)
                cursor.execute("insert into main.added_judgements select * from fresh")
            self._sources |= set(rows["source"])
            self._read = max([self._read, *rows["id"].tolist()])

    @contextmanager
    def _using(self, choice: Choice, seen: int) -> Iterator[int]:
        """Yield the number of a choice's overlay, whose version stays while it is in use."""
        with self._counts:
            overlay = self._at(choice, seen)
            self._in_use[overlay.number, seen] += 1
        try:
            yield overlay.number
        finally:
            with self._counts:
                self._in_use[overlay.number, seen] -= 1
                self._in_use += Counter()  # without zeros

    def _at(self, choice: Choice, seen: int) -> Overlay:
        """Return the overlay of a choice, brought to a version if it is behind."""
        fitting = [
            overlay
            for overlay in self._overlays
            if overlay.choice == choice
            and (seen in overlay.versions or seen > overlay.versions[-1])
        ]
        if fitting:
            self._overlays.remove(fitting[-1])
        # A version that was skipped or dropped is counted from the beginning.
        overlay = fitting[-1] if fitting else Overlay(next(self._numbers), choice)
        if seen > overlay.versions[-1]:
            self._advance(overlay, seen)
        self._overlays.append(overlay)
        used = {number for number, _ in self._in_use}
        for old in [o for o in self._overlays[:-CHOICES] if o.number not in used]:
            self._overlays.remove(old)
            self._tally.drop(old)
        return overlay

    def _advance(self, overlay: Overlay, seen: int) -> None:
        try:
            self._tally.count(overlay, seen)
        except BaseException:
            # The scores may be incomplete, and the overlay is no longer in any list.
            self._tally.drop(overlay)
            raise
        used = [version for number, version in self._in_use if number == overlay.number]
        self._tally.forget(overlay, min([*overlay.versions[-KEPT:], *used]))

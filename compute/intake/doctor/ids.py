"""Ids that are easily taken for one another, or hold what no page can show as it is."""

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from compute.intake.doctor.report import Tally, Where

_CONTROL = """
select count(*), arg_min(id, line), min(line) from ids
where regexp_matches(id, '[[:cntrl:]]')
"""
# Only ids with a leading zero can be another's number, and few files have any.
_ONE_NUMBER = """
with zeros as (
    select distinct ltrim(id, '0') as bare from ids
    where id like '0_%' and regexp_full_match(id, '[0-9]+')
), twins as (
    select list(id order by line) as written, max(line) as line
    from ids join zeros on ltrim(id, '0') = bare
    group by bare having count(*) > 1
)
select count(*), arg_min(written, line), min(line) from twins
"""
_NEARLY_KNOWN = """
select count(*), arg_min([ids.id, known.id], line), min(line)
from ids join known on ltrim(ids.id, '0') = ltrim(known.id, '0')
where regexp_full_match(ids.id, '[0-9]+')
  and ids.id not in (select id from known)
"""


_OF = {
    "lists": "create or replace view ids as select id, line, n from lists",
    "documents": "create or replace view ids as select id, line, n from documents",
    "asked": "create or replace view ids as select id, line, n from asked",
}


def look_at(database: DuckDBPyConnection, table: str) -> None:
    """Make a table of ids (lists, documents or asked: id, line, n) the view `ids`."""
    database.execute(_OF[table])


@dataclass(frozen=True)
class Ids:
    """The ids of one column of a file, in a table `ids(id, line)` of a database, each once."""

    database: DuckDBPyConnection
    what: str
    """query or document"""
    file: str

    def remark(self, tally: Tally) -> None:
        """Tell of control characters, and of ids that are one number."""
        count, first, line = self._found(_CONTROL)
        treatment = "kept; shown as the code of the character"
        self._tell(tally, "control character in a {} id", count, repr(first), line, treatment)
        count, first, line = self._found(_ONE_NUMBER)
        twins = " and ".join(map(repr, first or ()))
        treatment = "ids are text: they stay apart"
        self._tell(tally, "{} ids that are one number", count, twins, line, treatment)

    def remark_nearly_known(self, tally: Tally) -> None:
        """Tell of unknown ids that only zeros tell apart from one in the table `known(id)`."""
        count, first, line = self._found(_NEARLY_KNOWN)
        example = f"{first[0]!r} where the dataset has {first[1]!r}" if first else ""
        treatment = "ids are text: they are not the same"
        self._tell(tally, "{} id like a known one but for zeros", count, example, line, treatment)

    def _found(self, query: str) -> tuple:
        return self.database.sql(query).fetchall()[0]

    def _tell(
        self, tally: Tally, what: str, count: int, example: str, line: int | None, treatment: str
    ) -> None:
        where = Where(self.file, line or 0)
        tally.remark(what.format(self.what), f"{self.what} {example}", where, treatment, count)

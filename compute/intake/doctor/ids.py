"""Checks for ids that are easily confused, or contain characters that no page can display."""

import unicodedata
from dataclasses import dataclass

import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.scratch_database import scratch
from compute.intake.doctor.report import Tally, Where

_CONTROL = """
select count(*), arg_min(id, line), min(line) from ids
where regexp_matches(id, '[[:cntrl:]]')
"""
# Only ids with a leading zero can equal another id as a number, and few files have any.
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
# The first case skips the rest for most ids; the rest would take long for millions of documents.
_FORMS = r"""
create or replace macro form(id) as case
    when regexp_full_match(id, '[a-z1-9][a-z0-9_-]*') then id
    else regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        lower(nfc_normalize(id)),
        '[\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2069}\x{FEFF}\x{AD}]', '', 'g'),
        '^b["'']|^[\s\x{A0}"''`“”‘’\[({<]+|[\s\x{A0}"''`“”‘’\])}>,;]+$', '', 'g'),
        '\.(txt|html?|nxml|xml|jsonl?|pdf|md|gz|sgml|[ct]sv|docx?|tex)$', ''),
        '^([0-9]+)\.0+$', '\1'), '^0+([0-9]+)$', '\1')
end;
create or replace macro tail(id) as form(coalesce(
    nullif(regexp_extract(id, '[/:#|\\]([^/:#|\\]+)$', 1), ''),
    nullif(regexp_extract(id, '^[A-Za-z]+[-_.]?([0-9].*)$', 1), '')
));
create or replace temp table own as
    select id, line, form(id) as form, tail(id) as tail from ids anti join known using (id)
"""
_WRITTEN_OTHERWISE = """
with theirs as (select id as other, form(id) as form, tail(id) as tail from known), pairs as (
    select id, line, other from own join theirs on own.form = theirs.form
    union all select id, line, other from own join theirs on own.tail = theirs.form
    union all select id, line, other from own join theirs on own.form = theirs.tail
)
select count(distinct id), min(line),
       arg_min([id, other], (nfc_normalize(id) != nfc_normalize(other), line, id, other))
from pairs
"""
WRITTEN_OTHERWISE = "{} ids that are known ones in a different spelling"
APART = "ids are compared as written, so these differ: write them the same way"


def look_at(database: DuckDBPyConnection, table: str) -> None:
    """Create the view `ids` of a table of ids (lists, documents or asked, with id, line, n)."""
    database.table(table).project("id, line, n").create_view("ids")


@dataclass(frozen=True)
class Ids:
    """The distinct ids of one column of a file, in a table `ids(id, line)` of a database."""

    database: DuckDBPyConnection
    what: str
    """query or document"""
    file: str

    def remark(self, tally: Tally) -> None:
        """Report control characters, and ids that are equal as numbers."""
        count, first, line = self._found(_CONTROL)
        treatment = "kept; shown as the character's code"
        self._tell(tally, "control character in a {} id", count, repr(first), line, treatment)
        count, first, line = self._found(_ONE_NUMBER)
        twins = " and ".join(map(repr, first or ()))
        treatment = "ids are text: they stay distinct"
        self._tell(tally, "{} ids that are the same number", count, twins, line, treatment)

    def written_otherwise(self, dataset: str, share: float = 0) -> tuple[int, str, int] | None:
        """Return the number of unknown ids that differ from an id in the table `known(id)` only in
        spelling, a sentence with an example, and its line; None if there are none. If they are less
        than `share` of all unknown ids they count as coincidence, unless they differ only in
        Unicode's normal form."""
        self.database.execute(_FORMS)
        ((n,),) = self.database.sql("select count(*) from own").fetchall()
        count, line, pair = self._found(_WRITTEN_OTHERWISE) if n else (0, 0, None)
        if not pair or (count < share * n and normal(pair[0]) != normal(pair[1])):
            return None
        own, other = map(ascii if normal(pair[0]) == normal(pair[1]) else repr, pair)
        told = f"its {self.what} {own} is {other} in {dataset}, {_way(*pair)}"
        return count, f"{told}; in all {count:,} of {n:,} unknown ids", line

    def remark_written_otherwise(self, tally: Tally, dataset: str, share: float = 0) -> None:
        """Report the ids that `written_otherwise` finds."""
        if found := self.written_otherwise(dataset, share):
            count, example, line = found
            what, where = WRITTEN_OTHERWISE.format(self.what), Where(self.file, line)
            tally.remark(what, example, where, APART, count)

    def _found(self, query: str) -> tuple:
        return self.database.sql(query).fetchall()[0]

    def _tell(
        self, tally: Tally, what: str, count: int, example: str, line: int | None, treatment: str
    ) -> None:
        where = Where(self.file, line or 0)
        tally.remark(what.format(self.what), f"{self.what} {example}", where, treatment, count)


def nearest(what: str, own: pa.Array, known: pa.Array, dataset: str) -> str:
    """Return a hint for a file without a known id: two ids that differ only in spelling, or else
    the first ids of the file and of the dataset."""
    with scratch() as database:
        database.register("ids", pa.table({"id": own, "line": range(len(own))}))
        database.register("known", pa.table({"id": known}))
        found = Ids(database, what, "").written_otherwise(dataset)
    first = [f"{ids[0].as_py()!r}" for ids in (own, known) if len(ids)]
    return found[1] if found else f"its first is {first[0]}, and that of {dataset} {first[-1]}"


def normal(name: str) -> str:
    """Return the id in NFC, the Unicode form of most ids."""
    return unicodedata.normalize("NFC", name)


def _way(own: str, other: str) -> str:
    """Return how two spellings of an id differ."""
    short, long = sorted((own.casefold(), other.casefold()), key=len)
    if normal(own) == normal(other):
        return "in another normal form of Unicode"
    if short == long:
        return "in another case"
    if long.endswith(short):
        zeros = not long.removesuffix(short).strip("0")
        return f"except for {'leading zeros' if zeros else 'a prefix'}"
    if long.startswith(short):
        return "except for a suffix"
    return "except for a prefix and a suffix" if short in long else "except for its spelling"

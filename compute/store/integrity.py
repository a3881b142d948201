"""Integrity: checks that a state's database and judgements are unchanged."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine, MetaData, Table, func, inspect, select
from sqlalchemy.exc import DBAPIError

from compute.base.errors import Unavailable
from compute.base.words import several
from compute.store import state

WAY_ON = (
    "restore an earlier backup into a new home, and import the judgements made since:"
    " `judgements export` to a CSV here, `judgements import` there"
)
_TOLD = 5
_AT_ONCE = {"yield_per": 1_000}


def found(engine: Engine) -> list[str]:
    """Read all rows of a state's tables; return one sentence for each fault."""
    try:
        return [*of_tables(engine), *of_rows(engine)]
    except (Unavailable, DBAPIError) as error:
        cause = str(getattr(error, "orig", error)).strip().splitlines()[0]
        return [f"the state {state.where(engine)} cannot be read completely: {cause}"]


def of_tables(engine: Engine) -> Iterator[str]:
    """Yield faults that SQLite finds in the file, and tables with invalid rows or duplicate
    keys."""
    with state.reading(engine) as connection:
        if engine.dialect.name == "sqlite":
            told = connection.exec_driver_sql("pragma integrity_check(1)").scalar_one()
            if told != "ok":
                yield state.damaged(engine, told.splitlines()[-1])
        names = inspect(connection).get_table_names()
        # Tables of jobs belong to a library, which may store any value in them.
        typed = {*names} - {"parts", "added_judgements"} if "parts" in names else set()
        for name in names:
            table = Table(name, MetaData(), autoload_with=connection)
            own = [column.name for column in table.primary_key] or list(table.c.keys())
            rows = connection.execute(select(table), execution_options=_AT_ONCE)
            keys, odd = list[tuple[Any, ...]](), 0
            for row in rows:
                keys.append(tuple(row._mapping[key] for key in own))
                odd += name in typed and not state.fits(table, tuple(map(type, row)))
            if len(set(keys)) < len(keys):
                yield f"{state.where(engine)}: two rows of {name} have the same key"
            if odd and engine.dialect.name == "sqlite":
                yield state.damaged(engine, f"a row of {name} has a value that was never written")


def of_rows(engine: Engine) -> list[str]:
    """Return sentences on lost or altered rows of judgements and of parts."""
    return [*of_judgements(engine), *of_parts(engine)]


def of_parts(engine: Engine) -> list[str]:
    """Return a sentence, with the next step, if rows of parts were lost or altered."""
    with state.reading(engine) as connection:
        rows = {row["id"]: row for row in connection.execute(select(state.parts)).mappings()}
        sums = {row.id: row.sha256 for row in connection.execute(select(state.part_sums))}
    bad = [one for one, row in rows.items() if state.linked("", row) != sums.get(one)]
    bad += [one for one in sums if one not in rows]
    told = [f"{rows[one]['kind']} of {rows[one]['dataset']}" for one in bad if one in rows]
    named = ", ".join([*told, *[f"{n} lost" for n in [len(bad) - len(told)] if n]][:_TOLD])
    way = "restore an earlier backup into a new home, or rerun and reimport these"
    return [f"rows of {len(bad):,} parts were altered ({named}); {way}"] * bool(bad)


def of_judgements(engine: Engine) -> list[str]:
    """Return a sentence, with the next step, if added judgements were lost or changed."""
    judged, links = state.added_judgements, state.judgement_chain
    both = select(links.c.id.label("link"), links.c.sha256, judged)
    both = both.join_from(links, judged, links.c.id == judged.c.id, isouter=True)
    bad, last, expected = list[str](), "", 1
    with state.reading(engine) as connection:
        state.counted(connection, "manifest")
        newest = connection.execute(select(func.max(judged.c.id))).scalar() or 0
        behind = newest - (counter := state.counted(connection, "judgements"))
        newest = max(newest, counter)
        rows = connection.execute(both.order_by(links.c.id), execution_options=_AT_ONCE)
        for row in rows.mappings():
            content = dict(row)
            link, sha256 = content.pop("link"), content.pop("sha256")
            bad += map(str, range(expected, link))
            if state.linked(last, content) != sha256:
                bad.append(str(link))
            last, expected = sha256, link + 1
        bad += map(str, range(expected, newest + 1))
    if not bad:
        why = f"its counter of judgements is {behind:,} too low"
        return [state.damaged(engine, why)] * (behind > 0)
    named = several(bad, _TOLD)
    return [f"added judgements lost or changed (by id): {named}; {WAY_ON}"]

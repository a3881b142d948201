"""A check that a server can read its state and its folder of parts."""

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from compute.base.errors import BeirscopeError, Unavailable
from compute.store import ownership, state
from compute.store.store import Store

LOST = "the database of the state cannot be read: check that it runs, and the setting `state`"
NO_PARTS = "the folder of parts cannot be read: check that it exists, or mount it"
OTHER_PARTS = "the folder of parts is another state's: mount the one that belongs to this state"
SENTENCES = (LOST, NO_PARTS, OTHER_PARTS)


def check(store: Store) -> None:
    """Raise Unavailable if the state or the parts cannot be read, or do not belong together. The
    error is one sentence without path or address, since anyone may read it."""
    # SQLite would go on reading a file that was removed.
    if store.engine.dialect.name == "sqlite" and not Path(state.where(store.engine)).exists():
        raise Unavailable(LOST)
    try:
        with store.engine.connect() as connection:
            own = connection.execute(select(state.identity.c.id)).scalar_one()
    except (SQLAlchemyError, BeirscopeError, OSError):
        raise Unavailable(LOST) from None
    try:
        # A folder that is not mounted exists, but is empty.
        marked = ownership.read(store.home).parts
    except (BeirscopeError, OSError):
        marked = ""
    if marked != own:
        raise Unavailable(OTHER_PARTS if marked else NO_PARTS)

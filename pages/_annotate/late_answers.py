"""Answers that stayed in a browser because the form was left before they were sent."""

from typing import Any

import streamlit as st

from compute.base.errors import BeirscopeError, WrongInput
from compute.judgements.tasks import answers, queue, tasks
from compute.judgements.tasks.queue import Annotator
from pages import _judge
from pages._shared import annotators, escaping, reading

_KEY = "_kept"


def save(scope: str = "") -> None:
    """Save the answers kept in this browser for forms other than `scope`'s, and report failures."""
    found = (st.session_state.get(_KEY) or {}).get("found") or []
    whose: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in found:
        whose.setdefault((str(record.get("task")), str(record.get("person"))), []).append(record)
    saved = st.session_state.setdefault("_kept_saved", set())
    for (task_id, name), records in whose.items():
        new = [record for record in records if record.get("entry") not in saved]
        try:
            if new:
                _save(task_id, name, new)
        except BeirscopeError as error:
            number = f"{len(new)} answer{'s' if len(new) > 1 else ''}"
            words = f"{number} of {name}, kept in this browser, cannot be saved: {error}"
            st.warning(escaping.text(words))
        else:
            saved.update(record["entry"] for record in new)
    tried = [record.get("entry") for record in found]
    _judge.kept({"scope": scope, "saved": sorted(saved), "tried": tried}, _KEY)


def _save(task_id: str, name: str, records: list[dict[str, Any]]) -> None:
    store = reading.store()
    task = tasks.task(store, task_id)
    queue.exchange(store, task, _person(task, name), answers.parsed(records), ahead=0)


def _person(task: tasks.Task, name: str) -> Annotator:
    """Return the assessor who gave the answers. Raises WrongInput if they may not judge here."""
    person = annotators.known_as(name)
    if not task.admits(person.name):
        raise WrongInput(f"{name} is not an assessor of the task {task.title}")
    return person

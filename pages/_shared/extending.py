"""Extending a sampled task by further documents."""

from collections.abc import Sequence

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.judgements.tasks import sampling_on, tasks
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import select as annotate_select
from pages._shared import drawing, failures, navigation, reading, sign_in


def extend(task: Task, systems: Sequence[str], n_pairs: int) -> None:
    """Extend the sample and open its form, or show why this is not possible."""
    store = reading.store()
    try:
        sign_in.require(sign_in.OPERATOR)
        official = reading.read(annotate_select.judged, dataset=task.dataset)
        judged = tasks.judged(store, task.dataset, official)
        with reading.cursor() as cursor:
            tops = annotate_select.StoredTops(cursor, task.dataset)
            extended = sampling_on.sample_on(store, task, systems, n_pairs, tops, judged)
    except BeirscopeError as error:
        failures.show_error(error)
        return
    st.toast(f"Sample extended to {extended.n_pairs:,} documents")
    navigation.to("annotate", task=task.id)
    st.rerun()


def draw(task: str, n: int) -> None:
    """Draw the button that extends a task by up to n documents."""
    if not sign_in.may(sign_in.OPERATOR):
        drawing.caption(sign_in.told(sign_in.OPERATOR))
    elif st.button(f"Judge up to {n:,} more documents", type="primary", icon=":material/gavel:"):
        found = tasks.task(reading.store(), task)
        extend(found, found.systems, n)

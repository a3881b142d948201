"""The button that creates a sampled task for two runs and opens its form."""

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.judgements.tasks import tasks
from compute.views.annotate import select as annotate_select
from compute.views.compare import judging
from pages._shared import drawing, navigation, reading
from pages._shared import sign_in as who


def apart(dataset: str, a: str, b: str, largest: float) -> None:
    """State the detectable differences and draw the button; without the role, a message instead."""
    if not who.may(who.OPERATOR):
        drawing.caption(who.told(who.OPERATOR))
        return
    plan = judging.plan(dataset, a, b)
    store = reading.store()
    judged = tasks.judged(
        store, dataset, reading.read(annotate_select.judged, dataset=dataset, added=False)
    )
    try:
        with reading.cursor() as cursor:
            tops = annotate_select.StoredTops(cursor, dataset)
            expected = tasks.expected(plan, tops, judged)
            if st.button("Judge which one is better", type="primary", icon=":material/gavel:"):
                who.require(who.OPERATOR)
                task = tasks.make(store, plan, tops, judged, who.name())
                navigation.to("annotate", task=task.id)
                st.rerun()
    except BeirscopeError as error:
        drawing.caption(str(error))
        return
    drawing.caption(judging.can_decide(expected, largest))

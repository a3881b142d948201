"""Training on the Jobs page: starting it, and its losses."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from pandas import DataFrame

from compute import jobs
from compute.base.errors import BeirscopeError
from compute.jobs import Job
from compute.recompute import training
from compute.store.store import Store
from compute.systems import SYSTEMS, reads_a_folder
from compute.systems.training import losses
from compute.views.jobs import select as queries
from compute.views.jobs import training as figures
from compute.views.page import Figure
from pages._shared import drawing, escaping, reading, sign_in

RECIPES = [name for name, row in SYSTEMS.items() if row.recipe]


def start(store: Store, datasets: Sequence[str]) -> None:
    """Draw controls that start the training of a system on an available dataset."""
    if not sign_in.may(sign_in.OPERATOR) or not datasets:
        return
    with st.expander("Train a system on a dataset", icon=":material/model_training:"):
        drawing.caption(
            "These systems are recipes. Training one on a dataset creates a separate system,"
            " such as genq[scifact], which can run on any dataset.",
            "Parameters follow in brackets: genq(queries=title,epochs=2).",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("Recipe", RECIPES[0], key="_recipe", width=420)
            dataset = st.selectbox("Dataset", datasets, key="_train_on", width=220)
            if st.button("Train", icon=":material/model_training:"):
                _start(store, name, dataset)
        if told := st.session_state.pop("_trained", None):
            st.markdown(escaping.text(told))


def _start(store: Store, name: str, dataset: str) -> None:
    sign_in.require(sign_in.OPERATOR)
    try:
        row = training.named(name, dataset)
        if reads_a_folder(row.name):
            st.error("Local folders can be named only on the command line.")
            return
        assert row.recipe is not None
        row.recipe.check()
        started = jobs.start(store, "train", [row.name], [dataset], person=sign_in.name())
    except BeirscopeError as error:
        st.error(escaping.text(str(error)))
        return
    st.session_state["_trained"] = f"{started.sentence[:1].upper()}{started.sentence[1:]}."
    st.rerun()


def going_on(store: Store, job: Job) -> None:
    """Draw the losses of a job's trainings in progress."""
    if job.kind != "train":
        return
    for system, _ in job.targets:
        curve = losses.under_way(store.settings, system)
        if not curve.empty:
            _losses(curve, int(curve["total"].iloc[-1]), job, system)


def ended(job: Job) -> None:
    """Draw the stored losses of the systems that a job trained."""
    if job.kind != "train":
        return
    for system, _ in job.targets:
        curve = reading.read(queries.curve, system=system)
        if not curve.empty:
            _losses(curve, int(curve["step"].max()), job, system)


def _losses(curve: DataFrame, total: int, job: Job, system: str) -> None:
    drawn = partial(figures.losses, curve, total=total)
    drawing.plot(Figure(f"losses {job.id} {system}", f"Losses of {system} by step", drawn))
    drawing.caption(figures.said(curve, total), "Lower is better; one step is one batch.")

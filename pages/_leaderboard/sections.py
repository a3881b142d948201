"""The sections of the page Leaderboard."""

from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from pandas import DataFrame
from streamlit.delta_generator import DeltaGenerator

from compute.datasets import DATASETS
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import cells, select_marks
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.cells import COMPUTED, DIFFERENCE, PUBLISHED
from compute.views.leaderboard.heatmap import (
    COLOURS,
    MOST_WITH_NUMBERS,
    heatmap,
    marks_note,
    note,
    unmarked,
)
from compute.views.leaderboard.wins import nothing_to_compare, strip
from compute.views.shared.theme import FAMILIES
from pages._leaderboard import order
from pages._leaderboard.order import VIEWS, Numbers
from pages._shared import (
    address,
    colours,
    drawing,
    escaping,
    pickers,
    query_kind,
    reading,
    system_pickers,
)
from pages._shared.pickers import pick_many
from pages._shared.reading import read


class Filter(NamedTuple):
    """What the popover leaves."""

    wanted: dict[str, list[str]]
    """Values by column of the datasets; none named means all."""
    families: list[str]
    returned: bool
    """Whether means are over the returned queries only."""
    shared: bool
    """Whether only datasets that all systems shown have are shown."""
    place: DeltaGenerator
    """For the picker of systems, whose names the board knows."""


FILTERS = ("queries", "task", "domain", "group", "family", "returned", "shared", "systems")
"""What the popover's pickers are called in the address."""
OWN = "own"
"""The group of datasets that were imported."""
_OF_ALL = "In print all queries count: kinds of them are told apart under Numbers: Computed."
UNTESTED = "The papers print no scores by query, so single datasets cannot be tested."


def first() -> str:
    """The numbers that the page opens on: computed ones for who has runs or datasets of their own.

    Runs of the demo leave the papers' tables in the first place.
    """
    return COMPUTED if _has_own() or query_kind.KEY in st.query_params else PUBLISHED


def _has_own() -> bool:
    """Whether a run was imported, or is on a dataset that was."""
    return any(
        part.kind == "scores" and (part.dataset not in DATASETS or part.provenance.get("imported"))
        for part in reading.parts()
    )


def _usual_groups(numbers: str) -> list[str]:
    """The groups of datasets that a board shows unless told: own ones alone where all imports are
    on them. Their columns would stand behind those of all that ships, and hardly any system has a
    run on both. An address that names another dataset, or a task, a domain or a kind of queries,
    which own ones may lack, shows all."""
    parts = [part for part in reading.parts() if part.kind == "scores"]
    own = {part.dataset for part in parts} - DATASETS.keys()
    imported = {part.dataset for part in parts if part.provenance.get("imported")}
    named = {st.query_params.get(key, "") for key in ("over", "dataset")} - {"", order.ALL}
    asked = any(st.query_params.get(key) for key in ("task", "domain", query_kind.KEY))
    alone = bool(imported) and imported | named <= own
    return [OWN] * (numbers == COMPUTED and alone and not asked)


def known(sources: list[str]) -> None:
    """Say what the address names that there is not; `sources`: the printed tables."""
    address.known("numbers", cells.NUMBERS, "kind of numbers")
    address.known("table", sources, "printed table")
    address.known("colour", COLOURS, "colour")
    address.known("view", VIEWS, "view")


def choose_table(tables: DataFrame, sources: list[str], numbers: str, above: Any) -> str:
    """One of the printed tables, which are called by what they hold."""
    titles, none = cells.table_titles(tables), numbers == COMPUTED
    if none and _has_own():
        with above:
            drawing.caption(f"The papers' tables are under Numbers: Published{_without()}.")
    return pickers.pick("Table", sources, "table", width=270, disabled=none, titles=titles)


def _without() -> str:
    """Of which of the papers' families no run is stored."""
    families = read(leaderboard_select.families)
    missing = [
        name
        for name, printed, run in families[["family", "n_printed", "n_run"]].itertuples(index=False)
        if printed and not run and name in FAMILIES
    ]
    if not missing or len(missing) == families["n_printed"].gt(0).sum():
        return ""
    return f"; no run here is of their families {', '.join(missing)}: see Jobs"


def choose_colour(place: DeltaGenerator, *, disabled: bool) -> str:
    """What a heatmap's colour says."""
    with place:
        return pickers.pick("Colour", COLOURS, "colour", disabled=disabled)


def choose_filter(datasets: DataFrame, numbers: str, above: Any) -> Filter:
    """The popover of filters; `above` takes what is wrong in the address."""
    choices = {column: sorted(set(datasets[column])) for column in ("task", "domain", "group")}
    # In print there is no usual one that an import could change.
    own = [name for name in _usual_groups(numbers) if name in choices["group"]]
    usual = {"group": own} if numbers == COMPUTED else {}
    with above:
        for column, values in choices.items():
            address.known(column, values, column)
        address.known("family", FAMILIES, "family of systems")
    given = {key for key in FILTERS if st.query_params.get_all(key) not in ([], [""])}
    given |= {key for key, names in usual.items() if names and key not in st.query_params}
    if given == {"group"} and st.query_params.get_all("group") in ([], [OWN]):
        with above, st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("Own datasets alone are shown.", width="content")
            show_all = partial(pickers.put, group=[""])
            st.button("Show all datasets", on_click=show_all, type="tertiary")
    with st.popover(f"Filter ({len(given)})" if given else "Filter"):
        place = st.container()
        query_kind.of_datasets(above, "" if numbers == COMPUTED else _OF_ALL)
        return Filter(
            {
                column: pick_many(column.capitalize(), values, column, default=usual.get(column))
                for column, values in choices.items()
            },
            pick_many("Family", FAMILIES, "family"),
            pickers.switch("Returned queries only, as BEIR's code", "returned"),
            pickers.switch("Only datasets that all systems have", "shared"),
            place,
        )


def ours(measure: str, *, returned: bool) -> DataFrame:
    """The cells of the stored runs."""
    means, holes = read(leaderboard_select.means, measure=measure), read(leaderboard_select.holes)
    column = "value_returned" if returned else "value"
    return cells.computed(means, holes, read(leaderboard_select.trained_pairs), column)


def filtered(shown: DataFrame, systems: DataFrame, chosen: Filter, baseline: str) -> DataFrame:
    """The cells of the chosen families, and on shared datasets alone if that is chosen."""
    left = cells.of_families(shown, systems, chosen.families, baseline)
    if not chosen.shared:
        return left
    whole = cells.of_all(left)
    if whole.empty:
        st.info("No dataset has a figure of every system shown: all are shown.")
    return left if whole.empty else whole


def heat(
    board: leaderboard.Board,
    of: Numbers,
    printed: DataFrame,
    colour: str,
    baseline: str,
    picked: list[str],
) -> None:
    """The heatmap of datasets and picked systems, and what stands under it."""
    difference, tested = of.kind == DIFFERENCE, order.is_tested(of)
    colour = DIFFERENCE if difference else colour
    shown = picked[:MOST_WITH_NUMBERS]
    marks = read(select_marks.against, **order.tested_by(board, baseline)) if tested else None
    look = {"theme": colours.theme(), "chosen": drawing.chosen_cell(), "shown": shown}
    drawing.caption(leaderboard.hidden(board, shown))
    figure = heatmap(board, colour_by=colour, baseline=baseline, marks=marks, **look)
    said = note(board, colour, baseline)
    drawing.plot_cells(figure, f"{board.measure} of systems on datasets", board.measure, said)
    origin = cells.origin(of.kind, of.source, returned=of.returned, kind=reading.kind_title())
    n, titles = len(board.systems), leaderboard.short_titles(board.systems)
    shared = in_common(n, printed) if difference else ""
    said = drawing.of_matrix(said)
    drawing.caption(*leaderboard.caption(board, origin, shown), shared, said)
    if marks is not None:
        drawing.caption(
            *marks_note(marks, titles.get(baseline, baseline)), unmarked(board, baseline)
        )
    if of.kind == PUBLISHED:
        drawing.caption(UNTESTED)
    if not _has_own():
        address.link("Put runs of your own beside these", "pages/data.py", show="Import")


def choose_systems(board: leaderboard.Board, numbers: str, above: Any) -> list[str]:
    """The systems to show; where only computed numbers are, versions of systems, too."""
    known, on = list(board.systems["system"]), list(board.datasets["dataset"])
    offered = on if numbers == COMPUTED else ()
    return system_pickers.picked(known, "system of these numbers", above, offered)


def nothing(numbers: str, printed: DataFrame) -> None:
    """Say what would fill an empty board."""
    none = in_common(0, printed) if numbers == DIFFERENCE else ""
    words = "Nothing to show for these choices. python -m compute demo computes runs."
    st.info(escaping.text(" ".join((words, none)).strip()))


def in_common(n_shown: int, printed: DataFrame) -> str:
    """How many of a printed table's systems a board of differences has."""
    number = printed["system"].nunique()
    are = "is" if n_shown == 1 else "are"
    return f"{n_shown or 'None'} of the {number} systems of this table {are} computed here."


def wins(board: leaderboard.Board, baseline: str, picked: list[str]) -> None:
    """Wins and losses of the picked against the baseline over several datasets, or why there are
    none; of one dataset the heatmap says as much."""
    if len(board.datasets) == 1:
        return
    if missing := nothing_to_compare(board, baseline, picked):
        drawing.caption(missing)
        return
    st.header("Wins and losses", anchor=False)
    figure = strip(board, baseline, colours.theme(), picked)
    titles = dict(zip(board.systems["system"], board.systems["title"], strict=True))
    said = "Blue: better than the baseline; orange: worse."
    drawing.plot(figure, "wins", f"Wins and losses against {titles[baseline]}", said)

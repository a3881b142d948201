"""What is used of Streamlit besides its public interface stands in one module."""

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from types import SimpleNamespace
from typing import Any

from pandas import DataFrame
from pandas.testing import assert_frame_equal
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.elements import arrow
from streamlit.proto.ArrowData_pb2 import ArrowData
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

from compute.base.settings import PROJECT
from pages._shared import streamlit_internals

PUBLIC = ("components.v2", "delta_generator")
IMPORTED = re.compile(r"^\s*from streamlit(?:\.([\w.]+))? import (.+)$", re.MULTILINE)


def test_it_was_read_in_the_sources_that_are_installed() -> None:
    """After an update read them again: each name, and whether a public way exists by then."""
    assert streamlit_internals.is_read_from()


def test_no_other_module_imports_it() -> None:
    found = {
        f"{file.relative_to(PROJECT)}: {line[0] or line[1]}"
        for file in [PROJECT / "app.py", *PROJECT.glob("pages/**/*.py")]
        for line in IMPORTED.findall(file.read_text())
        if line[0] not in PUBLIC and file.stem != "streamlit_internals"
    }
    assert not found


def test_a_figure_is_sent_as_it_was_written() -> None:
    """A function of a page sends JSON; what Streamlit writes of the same figure is equal."""

    def page() -> None:
        import plotly.graph_objects as go
        import streamlit as st

        from pages._shared.streamlit_internals import Written

        figure = go.Figure(go.Bar(x=[1, 2], y=[3.5, None]), {"height": 90})
        st.plotly_chart(figure, key="theirs", theme=None)
        sent = Written(figure.to_json(), {"width": None, "height": 90})
        st.plotly_chart(sent, key="ours", theme=None)

    theirs, ours = AppTest.from_function(page).run().get("plotly_chart")
    assert ours.proto.spec == theirs.proto.spec


def test_written_cells_are_sent_as_pandas_would_write_them() -> None:
    rows = DataFrame({"name": ["a<b", None], "n": [0.25, float("nan")]})
    told = DataFrame({"name": ["a<b", "-"], "n": ["0.250", "-"]})
    css = [["", "font-weight: bold"], ["color: red", ""]]
    wanted = rows.style.set_uuid("u").format(
        {"name": lambda v: v if isinstance(v, str) else "-", "n": _number}
    )
    look = DataFrame(dict(zip(rows, css, strict=True)))
    theirs, ours = ArrowData(), ArrowData()
    arrow.marshall_styler(theirs, wanted.apply(lambda _: look, axis=None), "u")
    arrow.marshall_styler(ours, streamlit_internals.styled(rows, told, css), "u")
    assert ours.styler.uuid == theirs.styler.uuid
    assert {*ours.styler.styles.split("\n")} == {*theirs.styler.styles.split("\n")}
    sent, usual = (
        convert_arrow_bytes_to_pandas_df(one.styler.display_values) for one in (ours, theirs)
    )
    assert_frame_equal(sent, usual)


def test_a_server_that_was_woken_and_has_not_begun_is_not_woken_again() -> None:
    asked = list[Any]()
    loop = SimpleNamespace(call_soon_threadsafe=asked.append)
    held = SimpleNamespace(eventloop=loop, need_send_data=asyncio.Event())
    serving: Any = SimpleNamespace(_get_async_objs=lambda: held)
    Runtime._enqueued_some_message(serving)
    assert asked == [held.need_send_data.set]
    held.need_send_data.set()
    Runtime._enqueued_some_message(serving)
    assert len(asked) == 1


def test_every_element_is_sent() -> None:
    """The loop is Streamlit's: it clears the event, sends what there is, rests and waits."""
    put, sent = list[int](), list[int]()

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        held = SimpleNamespace(eventloop=loop, need_send_data=asyncio.Event())
        drawing = threading.Thread(
            target=draw, args=[SimpleNamespace(_get_async_objs=lambda: held)]
        )
        drawing.start()
        while len(sent) < 2_000:
            held.need_send_data.clear()
            sent.extend(put[len(sent) :])
            await asyncio.sleep(0.001)
            if len(sent) < 2_000:
                await asyncio.wait_for(held.need_send_data.wait(), 60)
        drawing.join()

    def draw(serving: Any) -> None:
        for number in range(2_000):
            put.append(number)
            Runtime._enqueued_some_message(serving)

    # Another test's browser may have left a loop running in this thread.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, serve()).result(120)
    assert sent == list(range(2_000))


def _number(value: Any) -> str:
    return "-" if isnan(value) else f"{value:.3f}"

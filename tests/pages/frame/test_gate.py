"""Who gets in: a real server, real sockets, and those who did not sign in."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import create_connection

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from compute.base.settings import PROJECT, Settings
from compute.reading.ahead import OUTGROWN
from compute.store import health, state
from pages._frame.gate import NO_FILE
from pages._frame.left_pages import LeftPages
from pages._frame.watching import Look
from tests.support.processes import knocking
from tests.support.processes.dashboards import port, start_server
from tests.support.processes.knocking import asked, put, rerun, socket
from tests.support.processes.looking import NEWER

MEGABYTE = 1024**2
OPERATOR, VIEWER = "op@example.org", "vi@example.org"
TOKEN = "a-token-of-this-test"
TOLD = f"""
sign_in = true
upload_megabytes = 2
viewers = ["@example.org"]
operators = ["{OPERATOR}"]
"""


@pytest.mark.parametrize(
    ("sent", "passed"),
    [
        # A menu of x closes after y was asked for.
        (["x", "y", "x:menu"], ["x", "y"]),
        (["x", "y", "y:menu"], ["x", "y", "y:menu"]),
        (["x", "y", "x", "x:menu"], ["x", "y", "x", "x:menu"]),
        # Opened by its address, a page is asked for without a name; its parts name it.
        (["", "x:menu", "y", "x:menu"], ["", "x:menu", "y"]),
    ],
)
def test_only_a_part_of_the_page_that_was_left_asks_in_vain(
    sent: list[str], passed: list[str]
) -> None:
    given = iter([*map(_asking, sent), {"type": "websocket.disconnect"}])
    got: list[str] = []

    async def receive() -> Message:
        return next(given)

    async def app(_: Scope, receive: Receive, __: Send) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            run = BackMsg.FromString(message["bytes"]).rerun_script
            got.append(":".join(filter(None, (run.page_script_hash, run.fragment_id))))

    async def send(_: Message) -> None:
        raise AssertionError("nothing is sent")

    # In a thread: a browser of other tests has a loop in this one.
    with ThreadPoolExecutor(1) as beside:
        run = LeftPages(app)({"type": "websocket"}, receive, send)
        beside.submit(asyncio.run, run).result()
    assert got == passed


def _asking(name: str) -> Message:
    page, _, fragment = name.partition(":")
    asked = BackMsg()
    asked.rerun_script.page_script_hash = page
    asked.rerun_script.fragment_id = fragment
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}


class Dashboard:
    """A running dashboard: its address, and what it holds."""

    def __init__(self, home: Path, free: int, *told: str) -> None:
        self.home = home
        self.address = f"http://127.0.0.1:{free}"
        self.process = start_server(home, free, *told)

    def held(self) -> int:
        """Bytes of memory."""
        return psutil.Process(self.process.pid).memory_info().rss

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(knocking.WAIT)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard where people sign in."""
    home, free = tmp_path_factory.mktemp("closed"), port(8780)
    auth = {
        "redirect_uri": f"http://127.0.0.1:{free}/oauth2callback",
        "cookie_secret": knocking.SECRET,
        "client_id": "beirscope",
        "client_secret": "unused",
        "server_metadata_url": "http://127.0.0.1:9/nobody",
    }
    lines = "".join(f'{name} = "{value}"\n' for name, value in auth.items())
    (home / "secrets.toml").write_text(f"[auth]\n{lines}", encoding="utf-8")
    (home / "settings.toml").write_text(TOLD, encoding="utf-8")
    found = Dashboard(home, free, f"--secrets.files={home / 'secrets.toml'}")
    yield found
    found.end()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard of this machine alone, without sign-in."""
    home = tmp_path_factory.mktemp("opened")
    told = f'hosts = ["scope"]\nmetrics_token = "{TOKEN}"\n'
    (home / "settings.toml").write_text(told, encoding="utf-8")
    found = Dashboard(home, port(8790))
    yield found
    found.end()


def test_nobody_fills_the_memory_without_signing_in(closed: Dashboard) -> None:
    with socket(closed.address) as knocking_one:
        knocking_one.send(rerun())
        session = knocking.until(knocking_one, "new_session").new_session.initialize.session_id
        before = closed.held()
        content = bytes(MEGABYTE)
        places = [f"_stcore/upload_file/{session}/{number}" for number in range(30)]
        assert {put(closed.address, place, content).status for place in places} == {403}
        assert closed.held() - before < 10 * MEGABYTE


@pytest.mark.long
@pytest.mark.parametrize("leaves", [True, False])
def test_who_goes_holds_no_files(opened: Dashboard, leaves: bool) -> None:
    with socket(opened.address) as visitor:
        visitor.send(rerun("dataset=tiny"))
        session = knocking.until(visitor, "new_session").new_session.initialize.session_id
        knocking.until(visitor, "script_finished")
        before = opened.held()
        _upload(opened, session)
        full = opened.held()
        assert full - before > 60 * MEGABYTE or not leaves
        if not leaves:
            # A page without an uploader lets go of them when it is drawn: there is room for others.
            visitor.send(rerun("dataset=tiny"))
            knocking.until(visitor, "script_finished")
            _upload(opened, session, "other")
            assert opened.held() - full < 40 * MEGABYTE
            return
    end = time.monotonic() + knocking.WAIT
    while opened.held() - before > 30 * MEGABYTE:
        assert time.monotonic() < end
        asked(f"{opened.address}/_stcore/health")


def _upload(opened: Dashboard, session: str, name: str = "one") -> None:
    """Files of 80 MB."""
    for number in range(20):
        place = f"_stcore/upload_file/{session}/{name}-{number}"
        assert put(opened.address, place, bytes(4 * MEGABYTE)).status == 204


def test_the_entrance_gives_no_place_for_files(closed: Dashboard) -> None:
    with socket(closed.address) as knocking_one, pytest.raises(ConnectionClosed):
        knocking.places(knocking_one, 1)


def test_the_entrance_is_drawn_for_whoever_comes(closed: Dashboard) -> None:
    with socket(closed.address) as knocking_one:
        knocking_one.send(rerun("dataset=tiny"))
        knocking.until(knocking_one, "script_finished")


@pytest.mark.long
@pytest.mark.parametrize("size", [64 * 1024, 100 * MEGABYTE])
def test_a_large_message_ends_a_connection_that_nobody_signed_in_for(
    closed: Dashboard, size: int
) -> None:
    before = closed.held()
    with socket(closed.address) as knocking_one:
        with suppress(ConnectionClosed):
            knocking_one.send(rerun("x" * size))
        code = knocking.closed_with(knocking_one)
        # While most of it is still on its way the system may reset the connection, and the frame
        # with the code is lost: the connection has ended all the same.
        assert code == 1009 or (code == 0 and size > MEGABYTE)
    assert closed.held() - before < 20 * MEGABYTE


def test_many_small_messages_end_it_too(closed: Dashboard) -> None:
    with socket(closed.address) as knocking_one:
        with suppress(ConnectionClosed):
            for _ in range(300):
                knocking_one.send(rerun())
        assert knocking.closed_with(knocking_one) == 1008


def test_of_too_many_at_the_entrance_the_longest_there_goes(closed: Dashboard) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(socket(closed.address))
        others = [stack.enter_context(socket(closed.address)) for _ in range(110)]
        assert knocking.closed_with(first) == 1013
        others[-1].send(rerun())
        knocking.until(others[-1], "script_finished")


CLOSED = (
    "_stcore/metrics",
    "_stcore/script-health-check",
    "_stcore/agent/mcp",
    "_stcore/bidi-components/x/y.js",
    "component/x/index.html",
    "media/x.csv",
    "app/static/x",
    "whatever/there/is",
)
OPEN = ("", "jobs", "query?dataset=tiny", "_stcore/health", "_stcore/host-config", "favicon.png")


@pytest.mark.parametrize("path", CLOSED)
def test_what_the_entrance_does_not_need_takes_a_cookie(closed: Dashboard, path: str) -> None:
    address = f"{closed.address}/{path}"
    told = asked(address)
    assert (told.status, told.content) == (403, b"sign in first\n")
    other = knocking.cookie("http://127.0.0.1:1", VIEWER)
    for worthless in ("_streamlit_user=x", other, knocking.cookie(closed.address, "x@y.z")):
        assert asked(address, Cookie=worthless).status == 403
    known = asked(address, Cookie=knocking.cookie(closed.address, VIEWER))
    assert known.status in (200, 400, 404, 405)


@pytest.mark.parametrize("path", OPEN)
def test_the_entrance_and_what_it_is_drawn_with_is_open(closed: Dashboard, path: str) -> None:
    told = asked(f"{closed.address}/{path}")
    assert told.status == 200
    for script in re.findall(rb'src="\./(static/[^"]+)"', told.content):
        assert asked(f"{closed.address}/{script.decode()}").status == 200
    assert asked(f"{closed.address}/{path}", "POST", b"x").status == 403


def test_what_lies_ready_is_not_given_out_once_a_role_is_gone(closed: Dashboard) -> None:
    known = knocking.cookie(closed.address, VIEWER)
    settings = closed.home / "settings.toml"
    assert asked(f"{closed.address}/media/x.csv", Cookie=known).status == 404
    settings.write_text(TOLD.replace("@example.org", "@example.net"), encoding="utf-8")
    try:
        assert asked(f"{closed.address}/media/x.csv", Cookie=known).status == 403
    finally:
        settings.write_text(TOLD, encoding="utf-8")


@pytest.mark.long
def test_a_view_is_saved_by_who_may_look_now_and_given_to_nobody_else(closed: Dashboard) -> None:
    known, settings = knocking.cookie(closed.address, VIEWER), closed.home / "settings.toml"
    with socket(closed.address, known) as viewer:
        session, file = knocking.made_later(viewer, "")
        place = f"{closed.address}/{knocking.download(viewer, session, file).lstrip('/')}"
        assert asked(place).status == 403
        told = asked(place, Cookie=known)
        assert told.status == 200 and told.content.startswith(b"PK")
        settings.write_text(TOLD.replace("@example.org", "@example.net"), encoding="utf-8")
        try:
            with pytest.raises(ConnectionClosed):
                knocking.download(viewer, session, file)
            assert asked(place, Cookie=known).status == 403
        finally:
            settings.write_text(TOLD, encoding="utf-8")


def test_only_operators_upload_and_what_a_session_holds_has_a_bound(closed: Dashboard) -> None:
    known = knocking.cookie(closed.address, OPERATOR)
    with socket(closed.address, known) as operator:
        places = knocking.places(operator, 3)
        viewer = knocking.cookie(closed.address, VIEWER)
        content = bytes(3 * MEGABYTE // 2)
        assert put(closed.address, places[0], content, viewer).status == 403
        # Two imports of 2 MB: one that is looked at while the next comes.
        told = [put(closed.address, place, content, known).status for place in places]
        assert told == [204, 204, 413]
        # What goes makes room.
        token = knocking.xsrf(closed.address)
        cookies = f"_streamlit_xsrf={token}; {known}"
        place = f"{closed.address}/{places[0].lstrip('/')}"
        gone = asked(place, "DELETE", X_Xsrftoken=token, Cookie=cookies)
        assert gone.status == 204
        assert put(closed.address, places[2], content, known).status == 204


def test_a_signed_in_session_takes_large_messages(closed: Dashboard) -> None:
    with socket(closed.address, knocking.cookie(closed.address, VIEWER)) as viewer:
        viewer.send(rerun("x" * 2 * MEGABYTE))
        knocking.until(viewer, "script_finished")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "[::1]:80", ""]
)
def test_another_host_is_not_answered(opened: Dashboard, host: str) -> None:
    number = opened.address.rpartition(":")[2]
    told = asked(f"{opened.address}/_stcore/health", Host=host.format(port=number))
    assert told.status in (400, 421)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}", "scope"]
)
def test_the_names_of_this_machine_and_of_the_settings_are(opened: Dashboard, host: str) -> None:
    number = opened.address.rpartition(":")[2]
    told = asked(f"{opened.address}/_stcore/health", Host=host.format(port=number))
    assert told.status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:1",
        "http://localhost:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://evil.example",
        "null",
    ],
)
def test_a_page_of_another_origin_is_not_answered(opened: Dashboard, origin: str) -> None:
    number = opened.address.rpartition(":")[2]
    other = origin.format(port=number)
    with pytest.raises(InvalidStatus), socket(opened.address, origin=other):
        pass
    assert asked(f"{opened.address}/_stcore/health", Origin=other).status == 403


@pytest.mark.long
def test_a_page_of_its_own_and_what_is_no_browser_are(opened: Dashboard) -> None:
    assert asked(f"{opened.address}/_stcore/health", Origin=opened.address).status == 200
    for origin in (opened.address, None):
        with socket(opened.address, origin=origin) as found:
            found.send(rerun())
            knocking.until(found, "script_finished")


def test_a_socket_of_another_host_is_not_opened(opened: Dashboard) -> None:
    number = int(opened.address.rpartition(":")[2])
    own = create_connection(("127.0.0.1", number))
    with (
        pytest.raises(InvalidStatus),
        connect(f"ws://evil.example:{number}/_stcore/stream", sock=own),
    ):
        pass


def test_without_sign_in_all_is_served_as_before(opened: Dashboard) -> None:
    for path in ("_stcore/metrics", "whatever/there/is"):
        assert asked(f"{opened.address}/{path}").status == 200
    with socket(opened.address) as found:
        places = knocking.places(found, 2)
        content = bytes(2 * MEGABYTE)
        assert [put(opened.address, place, content).status for place in places] == [204, 204]


def test_whoever_watches_hears_that_all_is_well_and_nothing_else(closed: Dashboard) -> None:
    told = asked(f"{closed.address}/healthz", Host="10.0.0.1")
    assert told == (200, b'{"status":"ok"}')


@pytest.mark.long
@pytest.mark.parametrize(
    ("lost", "why"), [("state.sqlite", health.LOST), ("parts", health.NO_PARTS)]
)
def test_a_server_without_what_is_stored_is_unavailable(
    opened: Dashboard, lost: str, why: str
) -> None:
    place, aside = opened.home / lost, opened.home / "aside"
    place.rename(aside)
    try:
        _until(opened, (503, {"status": "unavailable", "because": why}))
    finally:
        aside.rename(place)
    _until(opened, (200, {"status": "ok"}))


@pytest.mark.long
def test_a_server_makes_way_for_a_newer_one_of_the_same_state(tmp_path: Path) -> None:
    old = Dashboard(tmp_path, port(8800))
    try:
        with socket(old.address) as before:
            before.send(rerun())
            knocking.until(before, "script_finished")
            state.open_state(Settings(home=tmp_path), NEWER).dispose()
            _until(old, (503, {"status": "unavailable", "because": OUTGROWN}))
            # The browser hears that the service starts anew, and opens a socket elsewhere.
            before.send(rerun())
            assert knocking.closed_with(before) == 1012
        assert asked(f"{old.address}/annotate") == (503, f"{OUTGROWN}\n".encode())
        assert asked(f"{old.address}/_stcore/health").status == 503
        with pytest.raises(InvalidStatus, match="503"), connect(_stream(old)):
            pass
    finally:
        old.end()


def _stream(server: Dashboard) -> str:
    return f"{server.address.replace('http', 'ws')}/_stcore/stream"


def test_the_front_end_has_no_file_of_another_version(opened: Dashboard) -> None:
    told = asked(f"{opened.address}/static/js/index.of-another-version.js")
    assert told == (404, f"{NO_FILE}\n".encode())


def _until(server: Dashboard, wanted: tuple[int, dict[str, str]]) -> None:
    """Ask until that comes: what was found is said again for a second."""
    for _ in range(100):
        told = asked(f"{server.address}/healthz")
        if (found := (told.status, json.loads(told.content))) == wanted:
            return
        threading.Event().wait(0.1)
    raise AssertionError(f"{found}, not {wanted}")


def test_what_hangs_is_given_up_and_not_asked_twice() -> None:
    asks, goes_on = [], threading.Event()

    def find() -> int:
        asks.append(1)
        goes_on.wait(60)
        return len(asks)

    async def look() -> int:
        looking = Look(find, age=60)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await looking.found(0.01)
        goes_on.set()
        return await looking.found(60)

    with ThreadPoolExecutor(1) as beside:
        assert beside.submit(asyncio.run, look()).result() == 1


def test_without_a_token_of_the_settings_there_are_no_metrics(closed: Dashboard) -> None:
    assert asked(f"{closed.address}/metrics", Authorization="Bearer ").status == 404


@pytest.mark.parametrize("given", ["", TOKEN, f"Bearer {TOKEN}s", "Bearer é", f"Basic {TOKEN}"])
def test_metrics_are_for_who_has_the_token(opened: Dashboard, given: str) -> None:
    told = asked(f"{opened.address}/metrics", Authorization=given)
    assert told.status == 401
    assert TOKEN.encode() not in told.content


def test_the_metrics_are_those_of_the_papers(opened: Dashboard) -> None:
    """Each with the labels that stand there, which name no dataset, person or query."""
    with socket(opened.address) as found:
        found.send(rerun("dataset=tiny"))
        knocking.until(found, "script_finished")
        told = asked(f"{opened.address}/metrics", Authorization=f"Bearer {TOKEN}")
    families = [*text_string_to_metric_families(told.content.decode())]
    samples = {one.name: one for family in families for one in family.samples}
    assert samples["beirscope_state_readable"].value == 1
    assert samples["beirscope_sessions"].value >= 1
    assert samples["beirscope_page_seconds_count"].labels == {"page": "Leaderboard"}
    assert samples["process_resident_memory_bytes"].value > MEGABYTE
    ours = {
        family.name: {name for one in family.samples for name in one.labels} - {"le"}
        for family in families
        if family.name.startswith("beirscope_")
    }
    paper = (PROJECT / "docs" / "deployment.md").read_text("utf-8")
    rows = re.findall(r"^\| `(beirscope_\w+?)(?:_total)?` \|([^|]*)\|", paper, re.MULTILINE)
    listed = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    assert set(ours) == set(listed)
    # In a new home is no job, judgement or part that could have labels.
    assert all(labels == listed[name] for name, labels in ours.items() if labels)

"""One file from a server that cuts, lies, drips and changes its mind: whole and right, or not."""

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compute.base.errors import BeirscopeError, Missing, Unavailable, WrongInput
from compute.intake.fetch.addresses import checked, shown
from compute.intake.fetch.download import download, require_room
from compute.intake.fetch.partial import Expected
from compute.intake.fetch.web import Patience
from tests.support.processes.hostile_server import Answer, Hostile, hostile

CASES = int(os.environ.get("BEIRSCOPE_CASES", "40"))
CONTENT = b"PK" + bytes(range(256)) * 40
LENGTH = len(CONTENT)
EXPECTED = Expected("md5", hashlib.md5(CONTENT).hexdigest(), LENGTH, starts=b"PK")
PATIENCE = Patience(first=0, longest=5, connect=5, silence=0.3, window=0.05)
WHOLE = Answer(CONTENT)
OLD = b"PK" + b"an older version of the file " * 500
BUSY = {"Retry-After": "0"}


@pytest.fixture(scope="module")
def server() -> Iterator[Hostile]:
    """One server for all."""
    with hostile() as running:
        yield running


class Try:
    """Downloads of one test: what the server does, what was asked of it, what is left here."""

    def __init__(self, server: Hostile, path: str, folder: Path) -> None:
        self.server, self.path, self.folder = server, path, folder

    def __call__(
        self, *answers: Answer, expected: Expected = EXPECTED, patience: Patience = PATIENCE
    ) -> bytes:
        """The file, from a server that gives these answers one after another."""
        self.server.answers[self.path] = answers
        to = self.folder / "f.zip"
        download(self.server.address + self.path, to, expected, patience=patience)
        return to.read_bytes()

    def refused(self, *answers: Answer, kind: type[BeirscopeError] = WrongInput) -> str:
        """The sentence that the download ends with."""
        with pytest.raises(kind) as refused:
            self(*answers)
        return str(refused.value)

    @property
    def ranges(self) -> list[str | None]:
        """What part each request asked for."""
        return [one.headers.get("Range") for one in self.server.of(self.path)]

    @property
    def left(self) -> list[str]:
        """The files that are here now."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def fetch(server: Hostile, tmp_path: Path) -> Try:
    """Downloads from an address that no other test uses."""
    return Try(server, f"/{tmp_path.name}/f.zip", tmp_path)


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 500, LENGTH // 2, LENGTH - 1])
def test_a_cut_is_taken_up_where_it_was(fetch: Try, cut: int) -> None:
    assert fetch(Answer(CONTENT, cut=cut), WHOLE) == CONTENT
    # Fewer bytes than tell a zip archive from a web page are fetched again.
    assert fetch.ranges == [None, f"bytes={cut}-" if cut >= 2 else None]
    assert fetch.left == ["f.zip"]


def test_every_further_cut_is_taken_up_too(fetch: Try) -> None:
    assert fetch(*[Answer(CONTENT, cut=100)] * 4, WHOLE) == CONTENT
    assert fetch.ranges == [None, "bytes=100-", "bytes=200-", "bytes=300-", "bytes=400-"]


def test_a_later_call_goes_on_where_an_earlier_one_stopped(fetch: Try) -> None:
    said = fetch.refused(Answer(CONTENT, cut=1000), Answer(status=403), kind=Unavailable)
    assert said.endswith("f.zip refuses access (status 403)")
    assert fetch.left == [".f.zip.part", ".f.zip.part.json"]
    # The address of a mirror may hold a password.
    assert fetch.path not in (fetch.folder / ".f.zip.part.json").read_text("utf-8")
    assert fetch(WHOLE) == CONTENT
    assert fetch.ranges[-1] == "bytes=1000-"
    assert fetch.left == ["f.zip"]


def test_a_server_that_knows_no_ranges_begins_again(fetch: Try) -> None:
    assert fetch(Answer(CONTENT, cut=100, ranges=False), Answer(CONTENT, ranges=False)) == CONTENT


@pytest.mark.parametrize("etag", ["", 'W/"weak"', '"\xe9"'])
def test_without_a_firm_version_it_begins_again(fetch: Try, etag: str) -> None:
    assert fetch(Answer(CONTENT, etag=etag, cut=100), Answer(CONTENT, etag=etag)) == CONTENT
    assert fetch.ranges == [None, None]


def test_the_time_of_the_last_change_is_a_version_too(fetch: Try) -> None:
    date = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
    fetch(Answer(CONTENT, etag="", headers=date, cut=100), Answer(CONTENT, etag="", headers=date))
    assert fetch.server.of(fetch.path)[1].headers["If-Range"] == date["Last-Modified"]


def test_a_file_that_changed_meanwhile_begins_again(fetch: Try) -> None:
    assert fetch(Answer(OLD, etag='"v0"', cut=50), WHOLE) == CONTENT
    assert fetch.ranges == [None, "bytes=50-"]


def test_a_changed_file_is_noticed_though_the_server_does_not_say_so(fetch: Try) -> None:
    assert fetch(Answer(OLD, etag='"v0"', cut=50), Answer(CONTENT, deaf=True)) == CONTENT
    assert fetch.ranges == [None, "bytes=50-", None]


def test_pieces_of_two_versions_under_one_name_are_not_taken_for_the_file(fetch: Try) -> None:
    changed = Answer(OLD[:LENGTH], cut=5000)
    assert fetch(changed, WHOLE, WHOLE) == CONTENT
    assert fetch.ranges == [None, "bytes=5000-", None]


def test_a_server_that_changes_its_file_at_each_request_is_given_up(fetch: Try) -> None:
    answers = [Answer(OLD, etag=f'"{number}"', cut=50) for number in range(20)]
    assert "cannot be fetched now" in fetch.refused(*answers, kind=Unavailable)
    assert len(fetch.ranges) == PATIENCE.attempts


def test_more_announced_than_there_is_does_no_harm(fetch: Try) -> None:
    assert fetch(Answer(CONTENT, announced=LENGTH + 100)) == CONTENT


def test_less_announced_than_there_is_fails_the_checksum(fetch: Try) -> None:
    said = fetch.refused(Answer(CONTENT, announced=100))
    assert "is not the published file: it has md5" in said
    assert f"and 100 bytes, not md5 {EXPECTED.digest} and {LENGTH:,} bytes" in said
    assert fetch.left == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(CONTENT, announced=None),
        Answer(CONTENT, chunked=True),
    ],
)
def test_an_unknown_length_does_no_harm(fetch: Try, answer: Answer) -> None:
    assert fetch(answer) == CONTENT


def test_a_cut_that_nothing_tells_of_is_found_by_the_checksum(fetch: Try) -> None:
    assert fetch(Answer(CONTENT[:500], announced=None), WHOLE) == CONTENT
    assert fetch.ranges == [None, "bytes=500-"]


def test_a_cut_between_chunks_is_taken_up(fetch: Try) -> None:
    assert fetch(Answer(CONTENT, chunked=True, cut=300), WHOLE) == CONTENT


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(CONTENT, announced=10**15), "announces 1,000,000,000,000,000 bytes"),
        (Answer(CONTENT, announced=None, endless=True), "keeps sending data"),
        (Answer(b"PK but not it"), "is not the published file"),
        (Answer(b""), "is not the published file"),
        (Answer(b"<!DOCTYPE html><title>Sign in"), "a web page instead of the file"),
        (Answer(b"\n <html>"), "a web page instead of the file"),
        (Answer(b"%PDF-1.4"), "a file of another type than f.zip"),
    ],
)
def test_another_file_is_refused_at_once_and_not_kept(
    fetch: Try, answer: Answer, words: str
) -> None:
    assert words in fetch.refused(answer)
    assert fetch.left == []
    assert len(fetch.ranges) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(status=404), Missing, "no longer exists (status 404)"),
        (Answer(status=410), Missing, "no longer exists (status 410)"),
        (Answer(status=401), Unavailable, "refuses access (status 401)"),
        (Answer(status=204), Unavailable, "refuses access (status 204)"),
        (
            Answer(CONTENT, headers={"Content-Encoding": "gzip"}),
            Unavailable,
            "compresses the file although",
        ),
        (
            Answer(status=503, headers={"Retry-After": "86400"}),
            Unavailable,
            "is busy (status 503) and asks to wait 86,400 seconds",
        ),
    ],
)
def test_what_another_attempt_would_not_mend_is_said_at_once(
    fetch: Try, answer: Answer, kind: type[BeirscopeError], words: str
) -> None:
    assert words in fetch.refused(answer, kind=kind)
    assert len(fetch.ranges) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=503),
        Answer(status=429, headers=BUSY),
        Answer(status=500, headers={"Retry-After": "Thu, 01 Jan 2026 00:00:00 GMT"}),
        Answer(status=502, headers={"Retry-After": "soon"}),
        Answer(breaks=True),
        Answer(silent=True),
        Answer(CONTENT, status=206),
        Answer(CONTENT, status=416),
        Answer(CONTENT, headers={"Content-Length": "-5"}, announced=None),
        Answer(CONTENT, headers={"Content-Length": "many"}, announced=None),
        Answer(raw=b"\x00\xffnot HTTP at all\r\n\r\n"),
        Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nPK123"),
        Answer(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"),
    ],
)
def test_what_may_pass_is_tried_again(fetch: Try, answer: Answer) -> None:
    assert fetch(answer, WHOLE) == CONTENT


def test_attempts_have_an_end(fetch: Try) -> None:
    said = fetch.refused(Answer(status=503), kind=Unavailable)
    assert said.endswith("f.zip cannot be fetched now (it is busy (status 503))")
    assert len(fetch.ranges) == PATIENCE.attempts


def test_what_was_gained_is_named_when_it_is_given_up(fetch: Try) -> None:
    answers = [Answer(CONTENT, cut=2000), Answer(status=503)]
    said = fetch.refused(*answers, kind=Unavailable)
    assert "; 2 kB are kept, and the next fetch continues from there" in said


def test_a_server_that_drips_is_left_and_asked_again(fetch: Try) -> None:
    assert fetch(Answer(CONTENT, drips=True), WHOLE) == CONTENT


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/f", "//", "http://[::1", ""])
def test_a_redirect_to_anything_but_the_web_is_not_followed(fetch: Try, to: str) -> None:
    answer = Answer(status=302, headers={"Location": to})
    words = (
        "keeps redirecting"
        if to in ("", "//")
        else "redirects to an address that is not on the web"
    )
    assert words in fetch.refused(answer, kind=Unavailable)


def test_a_redirect_is_followed_and_a_loop_has_an_end(fetch: Try) -> None:
    fetch.server.answers["/elsewhere"] = [WHOLE]
    there = Answer(status=302, headers={"Location": "/elsewhere?signature=secret"})
    assert fetch(there) == CONTENT
    loop = Answer(status=301, headers={"Location": fetch.path})
    assert "5 redirects were followed" in fetch.refused(loop, kind=Unavailable)


@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        ("http://127.0.0.1:1/f", Unavailable, "no server answers there"),
        ("ftp://example.org/f", WrongInput, "not an address that begins with http"),
        ("http://[::1/f", WrongInput, "not an address that begins with http"),
        ("http://a b/f", WrongInput, "not an address that begins with http"),
        ("http:///f", WrongInput, "not an address that begins with http"),
    ],
)
def test_an_address_that_cannot_be_asked_gets_a_sentence(
    tmp_path: Path, address: str, kind: type[BeirscopeError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        download(address, tmp_path / "f.zip", EXPECTED, patience=PATIENCE)


def test_a_proxy_of_the_environment_is_asked(fetch: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", fetch.server.address)
    address = "http://archives.invalid/f.zip"
    fetch.server.answers[address] = [WHOLE]
    download(address, fetch.folder / "f.zip", EXPECTED, patience=PATIENCE)
    assert (fetch.folder / "f.zip").read_bytes() == CONTENT


def test_a_disk_without_room_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"needs 1,000,000,000 GB more, but .* make room"):
        require_room(tmp_path / "f.zip", 10**18)


def test_addresses_are_shown_without_what_may_be_secret() -> None:
    assert shown("https://name:word@host:8/a/b?token=x#y") == "https://host:8/a/b"
    assert shown("http://h/\x1b[31m") == "http://h/\\x1b[31m"
    assert checked("https://h/a", "it") == "https://h/a"


def test_pauses_grow_up_to_a_bound_and_heed_the_server() -> None:
    patience = Patience(first=1, longest=8)
    assert [patience.pause(n) for n in range(1, 7)] == [1, 2, 4, 8, 8, 8]
    assert patience.pause(1, 5.0) == 5
    assert patience.pause(3, 0.5) == 4


_LYING: Callable[[], st.SearchStrategy[Answer]] = lambda: st.builds(  # noqa: E731
    Answer,
    content=st.sampled_from([CONTENT, OLD, b"<html>", b"PK"]),
    status=st.sampled_from([200, 200, 200, 206, 302, 404, 416, 500, 503]),
    headers=st.sampled_from([{}, BUSY, {"Location": "/f"}, {"Content-Range": "bytes 0-1/2"}]),
    etag=st.sampled_from(['"v1"', '"v0"', "", 'W/"v1"']),
    ranges=st.booleans(),
    deaf=st.booleans(),
    cut=st.none() | st.integers(0, LENGTH),
    announced=st.sampled_from([-1, -1, None, 0, 7, LENGTH, LENGTH + 1, 10**12]),
    chunked=st.booleans(),
    breaks=st.sampled_from([False, False, False, True]),
)


@settings(max_examples=CASES, deadline=None)
@given(answers=st.lists(_LYING(), min_size=1, max_size=5))
def test_whatever_a_server_does_the_file_is_right_or_not_there(
    server: Hostile, tmp_path_factory: pytest.TempPathFactory, answers: list[Answer]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    server.answers[f"/{folder.name}"] = answers
    to = folder / "f.zip"
    impatient = dataclasses.replace(PATIENCE, attempts=4, silence=2)
    try:
        download(f"{server.address}/{folder.name}", to, EXPECTED, patience=impatient)
    except BeirscopeError as error:
        assert "\n" not in str(error)
        assert not to.exists()
    else:
        assert to.read_bytes() == CONTENT
    # However it went, a sound server makes it whole.
    server.answers[f"/{folder.name}"] = [WHOLE]
    download(f"{server.address}/{folder.name}", to, EXPECTED, patience=impatient)
    assert to.read_bytes() == CONTENT

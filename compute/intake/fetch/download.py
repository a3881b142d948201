"""Download of a file: resumed after an interruption, checked, moved into place when complete."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from httpx2 import HTTPError, Response

from compute.base.errors import Unavailable, WrongInput
from compute.base.files import make_folder
from compute.base.words import sized
from compute.datasets.unpacked_size import RESERVE, free_disk
from compute.intake.fetch.addresses import shown
from compute.intake.fetch.partial import Expected, Partial
from compute.intake.fetch.web import Cut, Meter, Patience, opened
from compute.store.loading import Progress, quiet

GAIN = 1024**2
"""Bytes of progress after which earlier failures no longer count."""
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_UNSATISFIED = re.compile(r"bytes \*/(\d{1,18})")


def nothing_to_check(path: Path) -> None:
    """Accept any file that has the right checksum."""


def download(
    address: str,
    to: Path,
    expected: Expected,
    *,
    patience: Patience | None = None,
    progress: Progress = quiet,
    accept: Callable[[Path], None] = nothing_to_check,
) -> None:
    """Download the file at an address to `to`, once it is complete, has the right checksum and is
    accepted. An interrupted download is kept next to `to` and resumed, now or in a later call, as
    long as the server has the same version. Raises Unavailable if the server cannot be reached,
    Missing if the file is gone, and WrongInput if it is not the expected file."""
    patience = patience or Patience()
    part = Partial(to, address, expected)
    failures, furthest, reached = 0, part.size, False
    while True:
        try:
            _receive(part, patience, progress)
            if _is_right(part, progress):
                break
            raise Cut("the download is incomplete")
        except Cut as cut:
            reached = reached or cut.reached
            failures = 1 if part.size >= furthest + GAIN else failures + 1
            furthest = max(furthest, part.size)
            last = failures >= (patience.attempts if reached else patience.unreached)
            if (last or part.size == expected.size) and _digest(part, progress) == expected.digest:
                break  # the file is complete, although the server announced more
            if last:
                raise Unavailable(_given_up(part, cut)) from None
            time.sleep(patience.pause(failures, cut.wait))
    try:
        accept(part.path)
    except WrongInput:
        part.clear()
        raise
    part.publish()


def _receive(part: Partial, patience: Patience, progress: Progress) -> None:
    """Request the missing rest and append it, until the server has sent everything it announced."""
    if part.size < len(part.expected.starts):
        part.clear()
    known, have = part.known(), part.size
    validator, total = known.get("validator"), known.get("total")
    if have and total == have:
        return
    headers = {}
    if have and validator:
        headers = {"Range": f"bytes={have}-", "If-Range": str(validator)}
    with opened(part.address, patience, headers) as response:
        if response.status_code == 416:
            _past_the_end(part, response)
            return
        keep = response.status_code == 206
        if keep and not (headers and _goes_on(response, have, validator, total)):
            part.clear()
            raise Cut("it sends a different part from the one requested")
        start = have if keep else 0
        total = total if keep else _announced(response)
        _fits(part, total, start)
        if not keep:
            part.clear()
        part.note(validator=_validator(response) or (validator if keep else None), total=total)
        _add(part, response, keep, patience, progress)
    if total is not None and part.size < total:
        raise Cut("it sent less than it announced")


def _goes_on(response: Response, have: int, validator: object, total: int | None) -> bool:
    """Return whether a partial answer continues the bytes that are here."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not found or int(found[1]) != have:
        return False
    if total is not None and found[3] != "*" and int(found[3]) != total:
        return False
    # A server that does not support If-Range would send the rest of a newer file.
    return _validator(response) in (validator, None)


def _past_the_end(part: Partial, response: Response) -> None:
    """Handle an answer without more bytes: the file is complete, or must be restarted."""
    found = _UNSATISFIED.fullmatch(response.headers.get("Content-Range", ""))
    if not found or int(found[1]) != part.size:
        part.clear()
        raise Cut("it has less of the file than was received earlier")
    part.note(validator=part.known().get("validator"), total=part.size)


def _validator(response: Response) -> str | None:
    """Return the version of the file: its strong ETag, or else its modification time."""
    tag = response.headers.get("ETag", "")
    date = response.headers.get("Last-Modified", "")
    found = tag if tag.startswith('"') else date
    return found if found and found.isascii() and found.isprintable() else None


def _announced(response: Response) -> int | None:
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _fits(part: Partial, total: int | None, start: int) -> None:
    """Raise WrongInput for a file that is far too large, and Unavailable if there is no room."""
    if total is not None and total > part.expected.limit:
        part.clear()
        raise WrongInput(_too_much(part, f"announces {total:,} bytes"))
    require_room(part.to, (total or part.expected.size or 0) - start)


def require_room(to: Path, lacking: int) -> None:
    """Raise Unavailable unless the disk has room for this many more bytes."""
    make_folder(to.parent)
    free = free_disk(to.parent)
    if lacking > free:
        raise Unavailable(
            f"{to.name} needs {sized(lacking)} more, but {to.parent} has {sized(free)} free"
            f" beyond a reserve of {sized(RESERVE)}: make room, or move the home folder"
        )


def _add(
    part: Partial, response: Response, keep: bool, patience: Patience, progress: Progress
) -> None:
    """Append the body of an answer to the part, or replace it unless `keep`. Raises Cut."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        part.clear()
        raise Unavailable(
            f"{shown(part.address)} compresses the file although this was refused: use a mirror"
        )
    meter, total = Meter(patience), part.known().get("total") or part.expected.size or 0
    have, head = part.size if keep else 0, b""
    with part.growing(keep) as file:
        for piece in _pieces(response):
            if have < len(part.expected.starts):
                head += piece
                _begins_right(part, head)
            have += len(piece)
            if have > part.expected.limit:
                part.clear()
                raise WrongInput(_too_much(part, "keeps sending data"))
            file.write(piece)
            meter(len(piece))
            progress(have // 1000, total // 1000, "kB")


def _pieces(response: Response) -> Iterator[bytes]:
    """Yield the body as it arrives, not decoded. Raises Cut."""
    try:
        yield from response.iter_raw()
    except HTTPError:
        raise Cut("the connection broke off") from None


def _begins_right(part: Partial, head: bytes) -> None:
    """Discard the part and raise WrongInput unless the file begins as expected."""
    starts = part.expected.starts
    if head[: len(starts)] == starts[: len(head)]:
        return
    part.clear()
    if head.lstrip()[:1] == b"<":
        raise WrongInput(
            f"{shown(part.address)} returned a web page instead of the file: open it in a browser;"
            " a proxy or sign-in page may be in the way"
        )
    raise WrongInput(f"{shown(part.address)} returned a file of another type than {part.to.name}")


def _is_right(part: Partial, progress: Progress) -> bool:
    """Return whether the checksum is right. If it is wrong, a file received in pieces is discarded;
    a file of unannounced length may be incomplete. Raises WrongInput for a file that was received
    in one piece with the announced length."""
    found = _digest(part, progress)
    if found == part.expected.digest:
        return True
    have, known, in_one = part.size, part.known(), part.in_one
    if in_one and known.get("total") is None and known.get("validator"):
        return False
    part.clear()
    if not in_one or known.get("total") is None:
        return False
    expected = part.expected
    name = "checksum" if expected.algorithm == "git" else expected.algorithm
    of = f" and {expected.size:,} bytes" if expected.size and expected.size != have else ""
    raise WrongInput(
        f"{shown(part.address)} is not the published file: it has {name} {found} and {have:,}"
        f" bytes, not {name} {expected.digest}{of}; it was not kept: try again later or use a"
        " mirror"
    )


def _digest(part: Partial, progress: Progress) -> str:
    total = part.size
    return part.digest(lambda done: progress(done // 1000, total // 1000, "kB checked"))


def _too_much(part: Partial, what: str) -> str:
    size_known = part.expected.size
    usual = f"it should have {size_known:,}" if size_known else "which is more than allowed"
    return f"{shown(part.address)} {what}, {usual}: it is another file, and was not kept"


def _given_up(part: Partial, cut: Cut) -> str:
    kept = ""
    if part.size:
        kept = f"; {sized(part.size)} are kept, and the next fetch continues from there"
    return f"{shown(part.address)} cannot be fetched now ({cut}){kept}"

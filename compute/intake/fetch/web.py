"""Requests to web addresses. This module follows redirects; every failure is retried by `download`
or becomes a sentence. Proxies and certificates come from the environment (HTTPS_PROXY, NO_PROXY,
SSL_CERT_FILE …) as read by `httpx2`, which the hub's library also uses."""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies

import httpx2
from httpx2 import Response

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.intake.fetch.addresses import checked, shown

_MOVED = {301, 302, 303, 307, 308}
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_HEADERS = {
    "User-Agent": "beirscope",
    # In a compressed answer, neither offsets nor checksum would match the file.
    "Accept-Encoding": "identity",
}


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server, in seconds, and how often to try again."""

    attempts: int = 6
    """Consecutive failures with almost no progress after which a download is given up."""
    unreached: int = 3
    """The same for a server that was never reached, usually because there is no network."""
    first: float = 1.0
    """Pause after the first failure; each further pause is twice as long."""
    longest: float = 60.0
    """Longest pause; if a server requests a longer one, the download fails."""
    connect: float = 15.0
    silence: float = 30.0
    """Seconds without a byte after which a connection counts as broken."""
    window: float = 60.0
    slowest: int = 1_000
    """Bytes per second in each window; a slower server counts as disconnected."""
    redirects: int = 5

    def pause(self, failures: int, asked: float | None = None) -> float:
        """Return the seconds before the next attempt, at least as many as the server requested."""
        return max(min(self.first * 2 ** (failures - 1), self.longest), asked or 0.0)


class Cut(Exception):
    """A failure that another attempt may fix; its message explains it."""

    def __init__(self, why: str, *, reached: bool = True, wait: float | None = None) -> None:
        super().__init__(why)
        self.reached = reached
        self.wait = wait


# Reading this machine's certificates is slow.
_certificates = cache(httpx2.create_ssl_context)


@contextmanager
def opened(
    address: str, patience: Patience, headers: Mapping[str, str] | None = None
) -> Iterator[Response]:
    """Open the answer to a GET, without reading its body; its status is 200, 206 or 416. Raises Cut
    for temporary failures; Missing, Unavailable or WrongInput for permanent ones."""
    at = checked(address, "the address")
    with _client(patience) as client:
        for _ in range(patience.redirects + 1):
            with closing(_answer(client, at, headers or {})) as response:
                if response.status_code not in _MOVED:
                    _refuse(response, address, patience)
                    yield response
                    return
                at = _moved_to(at, response)
    raise Unavailable(
        f"{shown(address)} keeps redirecting ({patience.redirects} redirects were followed):"
        " open it in a browser"
    )


def _client(patience: Patience) -> httpx2.Client:
    """Return a client with these timeouts. Raises WrongInput for an unusable proxy."""
    times = httpx2.Timeout(patience.silence, connect=patience.connect)
    try:
        return httpx2.Client(headers=_HEADERS, timeout=times, verify=_certificates())
    except (ValueError, httpx2.InvalidURL) as error:
        raise WrongInput(
            f"the proxy of the environment cannot be used ({type(error).__name__}):"
            " fix or unset HTTP_PROXY and HTTPS_PROXY"
        ) from None


def _answer(client: httpx2.Client, at: str, headers: Mapping[str, str]) -> Response:
    """Send a GET and return the answer. Raises Cut, Unavailable or WrongInput."""
    try:
        return client.send(client.build_request("GET", at, headers=headers), stream=True)
    except (httpx2.InvalidURL, UnicodeError):
        raise WrongInput(f"{shown(at)} is not a web address: fix it") from None
    except httpx2.HTTPError as error:
        refused = isinstance(error, httpx2.ConnectError)
        if refused and any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
            raise Unavailable(
                f"the certificate of {urlsplit(at).hostname} is not trusted here: if a proxy opens"
                " encrypted traffic, name its certificate in SSL_CERT_FILE"
            ) from None
        raise _trouble(error) from None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _trouble(error: httpx2.HTTPError) -> Cut:
    """Return the temporary failure that an error of the network means."""
    if any(isinstance(cause, socket.gaierror) for cause in _causes(error)):
        return Cut("its name does not resolve, so there may be no network", reached=False)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        proxy = " or at the proxy of the environment" if set(getproxies()) - {"no"} else ""
        return Cut(f"no server answers there{proxy}", reached=False)
    if isinstance(error, httpx2.TimeoutException):
        return Cut("it does not answer in time")
    return Cut("the connection broke off")


def _moved_to(at: str, response: Response) -> str:
    """Return the address to which an answer redirects. Raises Unavailable if it is unsafe."""
    location = response.headers.get("Location", "")
    try:
        target = checked(urljoin(at, location), "where it leads")
    except (ValueError, WrongInput):
        raise Unavailable(
            f"{shown(at)} redirects to an address that is not on the web ({shown(location)}):"
            " Beirscope does not follow it"
        ) from None
    if urlsplit(at).scheme == "https" and urlsplit(target).scheme == "http":
        raise Unavailable(
            f"{shown(at)} redirects from an encrypted address to an unencrypted one"
            f" ({shown(target)}):"
            " it is not followed"
        )
    return target


def _refuse(response: Response, address: str, patience: Patience) -> None:
    """Raise the error that a status means, unless the caller can use the answer."""
    status = response.status_code
    if status in (200, 206, 416):
        return
    if status in _TRY_AGAIN:
        wait = _asked(response.headers.get("Retry-After", ""))
        if wait is not None and wait > patience.longest:
            raise Unavailable(
                f"{shown(address)} is busy (status {status}) and asks to wait"
                f" {wait:,.0f} seconds: try again then"
            )
        raise Cut(f"it is busy (status {status})", wait=wait)
    if status in (404, 410):
        raise Missing(f"{shown(address)} no longer exists (status {status})")
    raise Unavailable(f"{shown(address)} refuses access (status {status})")


def _asked(text: str) -> float | None:
    """Return the seconds that a Retry-After header requests; None if it is absent or invalid."""
    if text.strip().isdecimal() and len(text) < 10:
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


class Meter:
    """Raises Cut if bytes arrive too slowly."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since, self._bytes = time.monotonic(), 0

    def __call__(self, n_bytes: int) -> None:
        """Count received bytes."""
        self._bytes += n_bytes
        seconds = time.monotonic() - self._since
        if seconds < self._patience.window:
            return
        if self._bytes < self._patience.slowest * seconds:
            raise Cut(f"it sends less than {self._patience.slowest:,} bytes per second")
        self._since, self._bytes = time.monotonic(), 0

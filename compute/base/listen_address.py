"""The address on which the dashboard listens: this machine's, or any other if people sign in."""

import ipaddress
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from compute.base import roles
from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.settings import PROJECT, Settings

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of this machine in a browser's requests; any other name means DNS rebinding or a proxy."""
SHORTEST_SECRET = 32
_NEEDED = ("redirect_uri", "cookie_secret")
_OF_PROVIDER = ("client_id", "client_secret", "server_metadata_url")


_USUAL = {"http": 80, "https": 443}
"""The schemes of web pages, each with the default port, which an address omits."""


class Origin(NamedTuple):
    """The scheme, host and port of a web page."""

    scheme: str
    host: str
    """Host, in lower case."""
    port: int


class SignIn(NamedTuple):
    """Sign-in settings from Streamlit's secrets, without the secret values."""

    origin: Origin
    """The origin under which browsers reach the dashboard."""
    providers: tuple[str, ...]
    """Names of the providers for `st.login`; a provider without a name is `default`."""


def is_loopback(address: str | None) -> bool:
    """Return whether only this machine can reach an address. No address means every network."""
    try:
        return address == "localhost" or ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def origin(text: str) -> Origin | None:
    """Return the origin of an address such as `https://host:8501`; None if it is invalid."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _USUAL or not host or f"{parts.scheme}://{parts.netloc}" != text:
        return None
    if "@" in parts.netloc:
        return None
    return Origin(parts.scheme, host.rstrip("."), _USUAL[parts.scheme] if port is None else port)


def origins(
    settings: Settings, address: str | None, port: int, signed: SignIn | None
) -> frozenset[Origin]:
    """Return every origin of the dashboard itself: this machine's names and the address it listens
    on, at its port, and the sign-in's origin. A name in the setting `hosts` is accepted at its own
    port or, if it has none, at this port and, because of proxies, at the default ports."""
    names = {*LOCAL, address or ""} - {"", "0.0.0.0", "::"}
    texts = [f"http://{_bracketed(name)}:{port}" for name in names]
    for host in map(_bracketed, settings.hosts):
        texts += [f"{scheme}://{name}" for scheme in _USUAL for name in (host, f"{host}:{port}")]
    read = [origin(text.lower()) for text in texts]
    return frozenset([*filter(None, read), *([signed.origin] if signed else [])])


def named(host: str, own: Collection[Origin]) -> set[Origin]:
    """Return the dashboard's own origins that match a request's Host header; none for others."""
    meant = [origin(f"{scheme}://{host.lower()}") for scheme in _USUAL]
    return {one for one in meant if one and one in own}


def _bracketed(host: str) -> str:
    """Return a host as written in an address, with IPv6 in brackets."""
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host


def check(settings: Settings, address: str | None) -> None:
    """Raise Unavailable, with the reason, if the dashboard must not listen on this address."""
    if not settings.sign_in and not is_loopback(address):
        raise Unavailable(
            "without sign-in everyone who reaches the dashboard has all rights, so it serves"
            f" only its own machine, not {address or 'every network'}: set sign_in"
            " (docs/deployment.md), or start it with the address 127.0.0.1"
        )


def secrets_files(settings: Settings) -> list[Path]:
    """Return the files that may hold the sign-in secrets; later files take precedence."""
    folders = (Path.home() / ".streamlit", PROJECT / ".streamlit", settings.home)
    return [folder / "secrets.toml" for folder in folders]


def sign_in(settings: Settings, files: Sequence[Path]) -> SignIn | None:
    """Check and return the sign-in settings; None if there is no sign-in. Raises Missing if the
    secrets are incomplete, and WrongInput if they are wrong or too short."""
    if not settings.sign_in:
        return None
    roles.check(settings)
    where, auth = _auth(files)
    providers = _providers(where, auth)
    if missing := [key for key in _NEEDED if not auth.get(key)]:
        raise Missing(f"{where}: [auth] lacks {' and '.join(missing)} (docs/deployment.md)")
    if len(str(auth["cookie_secret"])) < SHORTEST_SECRET:
        raise WrongInput(
            f"{where}: cookie_secret has fewer than {SHORTEST_SECRET} characters: create one"
            " with python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    back = urlsplit(str(auth["redirect_uri"]))
    if not back.hostname or not back.path.endswith("/oauth2callback"):
        raise WrongInput(
            f"{where}: redirect_uri must be the dashboard's address with /oauth2callback at the end"
        )
    if back.scheme != "https" and not is_loopback(back.hostname):
        raise WrongInput(
            f"{where}: redirect_uri must start with https:// (otherwise the sign-in"
            " cookie would be readable on the network)"
        )
    found = origin(f"{back.scheme}://{back.netloc}".lower())
    if found is None:
        raise WrongInput(f"{where}: redirect_uri is not an address: fix it (docs/deployment.md)")
    return SignIn(found, providers)


def _auth(files: Sequence[Path]) -> tuple[Path, Mapping[str, Any]]:
    """Return the last of these files that has a section [auth], and that section."""
    found: tuple[Path, Mapping[str, Any]] | None = None
    for file in files:
        try:
            content = tomllib.loads(file.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError):
            # The error message may quote a secret.
            raise WrongInput(f"{file}: cannot be read as TOML: fix or remove it") from None
        if isinstance(content.get("auth"), dict):
            found = file, content["auth"]
    if found is None:
        raise Missing(
            "sign_in is set, but no secrets.toml has a section [auth] with the provider:"
            f" create {files[-1]} (docs/deployment.md)"
        )
    return found


def _providers(where: Path, auth: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the sign-in providers in the section [auth]. Raises Missing for gaps."""
    named = {name: part for name, part in auth.items() if isinstance(part, dict)}
    sections: dict[str, Mapping[str, Any]] = {
        name: part for name, part in named.items() if "client_id" in part
    }
    if "client_id" in auth or not sections:
        sections["default"] = auth
    for name, part in sections.items():
        if missing := [key for key in _OF_PROVIDER if not part.get(key)]:
            place = "[auth]" if name == "default" else f"[auth.{name}]"
            raise Missing(f"{where}: {place} lacks {' and '.join(missing)} (docs/deployment.md)")
    return tuple(sections)

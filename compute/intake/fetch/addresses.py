"""Web addresses from outside: how they are checked and shown."""

from urllib.parse import urlsplit

from compute.base.errors import WrongInput
from compute.base.printable import printable

_SHOWN = 200


def checked(address: str, what: str) -> str:
    """Return an address that is http or https. Raises WrongInput, which calls it `what`."""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
        fits = fits and parts.port != 0 and address.isprintable() and " " not in address
    except ValueError:
        fits = False
    if not fits:
        raise WrongInput(
            f"{what} is {shown(address)!r}, not an address that begins with http:// or https://:"
            " fix or unset it"
        )
    return address


def shown(address: str) -> str:
    """Return the address for messages. User name, password and query are left out, since they may
    contain a mirror's secrets or the signature of a content network."""
    base = address.partition("?")[0].partition("#")[0]
    scheme, slashes, rest = base.partition("://")
    host, slash, path = rest.partition("/")
    return printable(f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}")[:_SHOWN]

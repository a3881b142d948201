"""A small OpenID Connect provider: whoever is clicked on its page is who signs in."""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "beirscope", "marker-of-the-client-secret"


class Provider(ThreadingHTTPServer):
    """The provider, with the codes it has given out and the claims of its people by e-mail."""

    def __init__(self, people: dict[str, dict[str, Any]], host: str) -> None:
        super().__init__((host, 0), _Answer)
        self.people = people
        self.codes: dict[str, dict[str, str]] = {}
        self.key = RSAKey.generate_key(2048, auto_kid=True)
        self.address = f"http://{host}:{self.server_port}"

    def token(self, code: str, form: dict[str, str]) -> dict[str, Any] | None:
        """The answer for a code, which counts once; none where the proof of its asker is wrong."""
        asked = self.codes.pop(code, None)
        if asked is None or (form["client_id"], form["client_secret"]) != (CLIENT, SECRET):
            return None
        proof = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(proof).rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": asked["who"],
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 600,
            "email": asked["who"],
            **self.people[asked["who"]],
        }
        signed = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        return {"access_token": "unused", "token_type": "Bearer", "id_token": signed}


class _Answer(BaseHTTPRequestHandler):
    server: Provider  # pyrefly: ignore

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(place.query).items()}
        if place.path == "/.well-known/openid-configuration":
            self._json(200, _metadata(self.server.address))
        elif place.path == "/keys":
            self._json(200, {"keys": [self.server.key.as_dict(private=False)]})
        elif place.path == "/authorize" and "who" not in asked:
            self._choose(asked)
        elif place.path == "/authorize":
            code = secrets.token_hex(8)
            self.server.codes[code] = asked
            back = urlencode({"code": code, "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.end_headers()
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {key: values[0] for key, values in parse_qs(body).items()}
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            who, _, secret = base64.b64decode(given).decode().partition(":")
            form |= {"client_id": who, "client_secret": secret}
        answer = self.server.token(form.get("code", ""), form)
        self._json(200 if answer else 400, answer or {"error": "invalid_grant"})

    def _choose(self, asked: dict[str, str]) -> None:
        """A page with a link for each person."""
        links = [
            f'<p><a href="/authorize?{html.escape(urlencode({**asked, "who": who}))}">{who}</a></p>'
            for who in self.server.people
        ]
        self._send(200, "text/html", "".join(links).encode())

    def _json(self, status: int, content: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(content).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests' output is for what fails."""


def _metadata(address: str) -> dict[str, Any]:
    return {
        "issuer": address,
        "authorization_endpoint": f"{address}/authorize",
        "token_endpoint": f"{address}/token",
        "jwks_uri": f"{address}/keys",
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "code_challenge_methods_supported": ["S256"],
    }


@contextmanager
def providing(people: dict[str, dict[str, Any]], host: str = "127.0.0.1") -> Iterator[Provider]:
    """A provider that answers while the block runs."""
    server = Provider(people, host)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Who may do what, where the dashboard may listen, and how often jobs may be started."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from compute import jobs
from compute.base import listen_address, roles
from compute.base.errors import BeirscopeError, Missing, Unavailable, WrongInput
from compute.base.listen_address import Origin
from compute.base.roles import ANNOTATOR, OPERATOR, VIEWER, Person
from compute.base.settings import PROJECT, Settings, load
from compute.jobs import queue
from compute.jobs.serve import options
from compute.store.loading import Bench
from pages._shared import sign_in

ADA = {"email": "ada@example.org", "email_verified": True}
SETTINGS = Settings(
    sign_in=True,
    viewers=("@example.org",),
    annotators=("Bob@Example.org",),
    operators=("ada@example.org", "@lab.example.org"),
)


@pytest.mark.parametrize(
    ("email", "role"),
    [
        ("ada@example.org", OPERATOR),
        ("bob@example.org", ANNOTATOR),
        ("eve@example.org", VIEWER),
        ("eve@lab.example.org", OPERATOR),
        ("eve@deep.lab.example.org", None),  # A domain is that domain alone.
        ("eve@notexample.org", None),
        ("eve@example.org.evil.net", None),
        ("ada@evil.net", None),
    ],
)
def test_a_role_is_the_highest_that_a_rule_gives(email: str, role: roles.Role | None) -> None:
    assert roles.role(SETTINGS, Person(email)) == role


def test_roles_are_ordered() -> None:
    assert VIEWER < ANNOTATOR < OPERATOR


def test_whoever_signs_in_has_the_default_role_and_none_without_one() -> None:
    assert roles.role(Settings(sign_in=True), Person("x@y.z")) is None
    assert roles.role(Settings(sign_in=True, default_role="viewer"), Person("x@y.z")) == VIEWER


@pytest.mark.parametrize(
    "rule",
    ["*", "*@example.org", "ada@*", "example.org", "@", "", "a@b@c", "ada @example.org", "@*"],
)
def test_a_rule_that_could_mean_many_is_refused(rule: str) -> None:
    with pytest.raises(WrongInput, match="neither an e-mail address nor a domain"):
        roles.check(Settings(operators=(rule,)))


def test_a_word_that_is_no_role_is_refused() -> None:
    with pytest.raises(WrongInput, match="known: viewer, annotator, operator"):
        roles.check(Settings(default_role="admin"))


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({}, "has no e-mail address"),
        ({"email": "ada@example.org"}, "verified"),
        ({"email": "ada@example.org", "email_verified": False}, "verified"),
        ({"email": "ada@example.org", "email_verified": "false"}, "verified"),
        ({"email": "ada@example.org", "email_verified": 1}, "verified"),
        ({"email": "@example.org", "email_verified": True}, "has no e-mail address"),
        ({"email": ["ada@example.org"], "email_verified": True}, "has no e-mail address"),
        ({"email": "ada@example.org,bob@example.org", "email_verified": True}, "has no e-mail"),
        ({**ADA, "iat": 1000}, "too long ago"),
    ],
)
def test_claims_that_prove_nothing_do_not_count(claims: dict[str, Any], said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        roles.person(SETTINGS, claims)


def test_letters_that_only_lower_case_makes_ascii_are_others() -> None:
    # The Kelvin sign and the long s fold to k and s.
    for email in ("\u212aim@example.org", "ki\u017f@example.org"):
        assert roles.person(SETTINGS, {**ADA, "email": email}).email == email
    assert roles.person(SETTINGS, {**ADA, "email": "ADA@Example.ORG"}).email == "ada@example.org"


@pytest.mark.long
@given(st.text(max_size=40), st.sampled_from(["@example.org", "ada@example.org"]))
def test_nobody_of_another_domain_fits_a_rule(local: str, rule: str) -> None:
    who = roles.address(f"{local}@evil.net")
    assert roles.role(Settings(operators=(rule,)), Person(who or "@")) is None


def test_lists_are_read_from_the_file_and_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        'sign_in = true\nviewers = ["@a.org", "b@c.org"]\n', encoding="utf-8"
    )
    home = {"BEIRSCOPE_HOME": str(tmp_path)}
    now = load({**home, "BEIRSCOPE_OPERATORS": "x@y.org, z@y.org"})
    assert (now.sign_in, now.viewers) == (True, ("@a.org", "b@c.org"))
    assert now.operators == ("x@y.org", "z@y.org")
    with pytest.raises(WrongInput, match="not true or false"):
        load({**home, "BEIRSCOPE_SIGN_IN": "maybe"})
    (tmp_path / "settings.toml").write_text("viewers = 5\n", encoding="utf-8")
    with pytest.raises(WrongInput, match="not a list"):
        load(home)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "", None, "example.org"])
def test_another_address_needs_sign_in(address: str | None) -> None:
    with pytest.raises(Unavailable, match="without sign-in everyone who reaches"):
        listen_address.check(Settings(), address)
    listen_address.check(Settings(sign_in=True), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_alone_is_served_without(address: str) -> None:
    listen_address.check(Settings(), address)


SECRETS = {
    "redirect_uri": "https://scope.example.org/oauth2callback",
    "cookie_secret": "0123456789abcdef0123456789abcdef",
    "client_id": "beirscope",
    "client_secret": "marker-of-the-client",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}


def _secrets(folder: Path, **changed: str) -> list[Path]:
    lines = [f'{name} = "{value}"\n' for name, value in (SECRETS | changed).items() if value]
    (folder / "secrets.toml").write_text("[auth]\n" + "".join(lines), encoding="utf-8")
    return [folder / "secrets.toml"]


def test_a_whole_sign_in_names_its_host_and_providers(tmp_path: Path) -> None:
    found = listen_address.sign_in(SETTINGS, _secrets(tmp_path))
    assert found == listen_address.SignIn(Origin("https", "scope.example.org", 443), ("default",))
    told = options(replace(SETTINGS, home=tmp_path, hosts=("scope",)), 8501, found)
    assert "--server.allowedHosts=scope.example.org" in told
    assert f"--secrets.files={tmp_path / 'secrets.toml'}" in told
    assert not any("marker" in word for word in told)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("http://127.0.0.1:8501", Origin("http", "127.0.0.1", 8501)),
        ("http://[::1]:8501", Origin("http", "::1", 8501)),
        ("https://scope.example.org", Origin("https", "scope.example.org", 443)),
        ("https://scope.example.org.:443", Origin("https", "scope.example.org", 443)),
        ("null", None),
        ("ftp://scope.example.org", None),
        ("http://", None),
        ("http://a:b", None),
        ("http://user@a", None),
        ("http://a/path", None),
        ("http://a?query", None),
        ("http://[::1", None),
    ],
)
def test_an_origin_is_read_whole_or_not_at_all(text: str, known: Origin | None) -> None:
    assert listen_address.origin(text) == known


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("localhost:8501", {"http"}),
        ("LOCALHOST:8501", {"http"}),
        ("[::1]:8501", {"http"}),
        ("10.0.0.7:8501", {"http"}),
        ("localhost", set()),
        ("localhost:8502", set()),
        ("scope", {"http", "https"}),  # Behind a proxy, of which kind is not known here.
        ("scope:8501", {"http", "https"}),
        ("scope:9000", set()),
        ("other:9000", {"http", "https"}),
        ("other", set()),
        ("id.example.org", {"https"}),
        ("id.example.org:443", {"https"}),
        ("id.example.org:80", set()),
        ("localhost:8501@evil.example", set()),
        ("evil.example/localhost:8501", set()),
        ("", set()),
    ],
)
def test_a_host_is_one_that_the_dashboard_is_reached_by(host: str, found: set[str]) -> None:
    now = Settings(hosts=("scope", "other:9000"))
    signed = listen_address.SignIn(Origin("https", "id.example.org", 443), ("default",))
    own = listen_address.origins(now, "10.0.0.7", 8501, signed)
    assert {one.scheme for one in listen_address.named(host, own)} == found


@pytest.mark.parametrize(
    ("changed", "kind", "said"),
    [
        ({"cookie_secret": "short"}, WrongInput, "fewer than 32"),
        ({"cookie_secret": ""}, Missing, "lacks cookie_secret"),
        ({"client_secret": ""}, Missing, "lacks client_secret"),
        ({"redirect_uri": "http://scope.example.org/oauth2callback"}, WrongInput, "https://"),
        ({"redirect_uri": "https://scope.example.org/"}, WrongInput, "/oauth2callback"),
        ({"client_id": 'a"b'}, WrongInput, "cannot be read as TOML"),
    ],
)
def test_a_weak_or_partial_sign_in_is_refused_without_its_secrets(
    tmp_path: Path, changed: dict[str, str], kind: type[BeirscopeError], said: str
) -> None:
    with pytest.raises(kind, match=said) as refused:
        listen_address.sign_in(SETTINGS, _secrets(tmp_path, **changed))
    assert "marker" not in str(refused.value) and "short" not in str(refused.value)


def test_sign_in_without_secrets_says_where_they_belong(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"secrets\.toml"):
        listen_address.sign_in(SETTINGS, [tmp_path / "secrets.toml"])
    assert listen_address.sign_in(Settings(), [tmp_path / "secrets.toml"]) is None


class _Drawn(NamedTuple):
    """What Streamlit knows while it draws a page for somebody."""

    claims: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.claims


def test_a_file_that_is_made_after_its_page_asks_for_the_role_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(streamlit, "user", _Drawn({**ADA, "is_logged_in": True}))
    monkeypatch.setattr(streamlit, "download_button", lambda _, data, **__: given.append(data))
    told = tmp_path / "settings.toml"
    told.write_text('sign_in = true\nviewers = ["@example.org"]\n', encoding="utf-8")
    sign_in.download_button("Save", lambda: b"made")
    (made,) = given
    assert made() == b"made"
    told.write_text('sign_in = true\nviewers = ["@example.net"]\n', encoding="utf-8")
    with pytest.raises(Unavailable, match=r"ada@example\.org does not have"):
        made()


def test_every_page_downloads_by_the_button_that_asks_again() -> None:
    files = sorted((PROJECT / "pages").rglob("*.py"))
    own = [file.name for file in files if "st.download_button" in file.read_text("utf-8")]
    assert own == ["sign_in.py"]


def _start(bench: Bench, system: str, person: str) -> jobs.Started:
    return jobs.start(bench.store, "run", [system], ["tiny"], person=person)


@pytest.mark.usefixtures("tiny")
def test_starts_are_counted_by_person_and_together_across_sessions(bench: Bench) -> None:
    now = replace(bench.settings, job_starts_per_person=2, job_starts=3)
    limited = replace(bench, settings=now, store=type(bench.store)(now))
    names = [f"bm25(k1={k1})" for k1 in (0.5, 0.6, 0.7, 0.8, 1.1)]
    for name in names[:2]:
        _start(limited, name, "ada@example.org")
    with pytest.raises(Unavailable, match=r"You have started 2 jobs .* try again in 60 minutes"):
        _start(limited, names[2], "ada@example.org")
    # What is queued already is joined, not started.
    assert _start(limited, names[0], "ada@example.org").joined
    _start(limited, names[3], "bob@example.org")
    with pytest.raises(Unavailable, match="All together have started 3 jobs"):
        _start(limited, names[4], "eve@example.org")
    assert sorted(person for _, person in queue.starts(now, time.time())) == [
        "ada@example.org",
        "ada@example.org",
        "bob@example.org",
    ]
    later = time.time() + queue.SPAN + 2
    assert queue.starts(now, later) == []


@pytest.mark.usefixtures("tiny")
def test_the_queue_has_an_end(bench: Bench) -> None:
    now = replace(bench.settings, jobs_waiting=1)
    limited = replace(bench, settings=now, store=type(bench.store)(now))
    _start(limited, "bm25(k1=0.5)", "")
    with pytest.raises(Unavailable, match="1 job queued or running"):
        _start(limited, "bm25(k1=0.6)", "")

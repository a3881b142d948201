"""People sign in at a provider of their own, and do what their role lets them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compute.base.settings import Settings
from compute.store.store import Store
from tests.support.acting import go, settled
from tests.support.processes import identity
from tests.support.processes.dashboards import port, serving

VERIFIED = {"email_verified": True}
PEOPLE = {
    "vi@example.org": VERIFIED,
    "ann@example.org": VERIFIED,
    "Op@Example.org": VERIFIED,
    "mallory@example.org": {"email_verified": False},
}
ROLES = """
sign_in = true
viewers = ["@example.org"]
annotators = ["ann@example.org"]
operators = ["op@example.org"]
"""
HOLE = "query?dataset=tiny&systems=bm25&query=q1&document=d4"


@pytest.fixture(scope="module")
def signed_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signed") / "home"
    shutil.copytree(home, folder)
    (folder / "settings.toml").write_text(ROLES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def closed(signed_home: Path) -> Iterator[str]:
    """The address of a dashboard with sign-in."""
    free = port(8760)
    with identity.providing(PEOPLE) as provider:
        auth = {
            "redirect_uri": f"http://127.0.0.1:{free}/oauth2callback",
            "cookie_secret": "0123456789abcdef" * 2,
            "client_id": identity.CLIENT,
            "client_secret": identity.SECRET,
            "server_metadata_url": f"{provider.address}/.well-known/openid-configuration",
        }
        lines = "".join(f'{name} = "{value}"\n' for name, value in auth.items())
        secrets = signed_home / "secrets.toml"
        secrets.write_text(f"[auth]\n{lines}", encoding="utf-8")
        with serving(signed_home, free, f"--secrets.files={secrets}") as address:
            yield address


def _enter(page: Page, address: str, who: str) -> None:
    go(page, address)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=who).click()


def _signed(page: Page, role: str) -> None:
    expect(page.get_by_text(f"example.org, {role}.")).to_be_visible()
    settled(page)


def _judgements(home: Path) -> list[tuple[str, int, int]]:
    rows = Store(Settings(home=home)).added_judgements()
    return list(zip(rows["person"], rows["relevance"], rows["verified"], strict=True))


def test_nothing_is_shown_before_somebody_signs_in(page: Page, closed: str) -> None:
    for path in ("jobs", "query?dataset=tiny", ""):
        page.goto(f"{closed}/{path}")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        settled(page)
        assert "tiny" not in page.locator("main").inner_text()


@pytest.mark.long
def test_an_address_that_nobody_verified_does_not_count(page: Page, closed: str) -> None:
    _enter(page, closed, "mallory@example.org")
    expect(
        page.get_by_text("does not confirm that your e-mail address is verified")
    ).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.mark.long
def test_a_viewer_looks_and_is_told_what_the_rest_takes(page: Page, closed: str) -> None:
    _enter(page, closed, "vi@example.org")
    _signed(page, "viewer")
    page.goto(f"{closed}/jobs")
    expect(page.get_by_text("takes an operator's role")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)
    page.goto(f"{closed}/{HOLE}")
    expect(page.get_by_text("Judging takes an annotator's role.")).to_be_visible()
    expect(page.get_by_label("Your name")).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.long
def test_an_annotator_judges_in_their_own_name_while_they_may(
    page: Page, closed: str, signed_home: Path
) -> None:
    _enter(page, closed, "ann@example.org")
    _signed(page, "annotator")
    go(page, f"{closed}/{HOLE}")
    page.get_by_role("button", name="Highly relevant").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    settled(page)
    assert _judgements(signed_home) == [("ann@example.org", 2, 1)]
    # The button is still there when the role is not: the action refuses, too.
    told = signed_home / "settings.toml"
    told.write_text(ROLES.replace("ann@example.org", "other@example.org"), encoding="utf-8")
    try:
        page.get_by_role("button", name="Not relevant").click()
        expect(page.get_by_text("example.org does not have")).to_be_visible()
    finally:
        told.write_text(ROLES, encoding="utf-8")
    assert _judgements(signed_home) == [("ann@example.org", 2, 1)]


@pytest.mark.long
def test_an_operator_may_start_jobs_and_make_tasks(page: Page, closed: str) -> None:
    _enter(page, closed, "Op@Example.org")
    _signed(page, "operator")
    page.goto(f"{closed}/annotate")
    expect(page.get_by_role("button", name="New task")).to_be_visible()
    page.goto(f"{closed}/jobs?systems=bm25&datasets=tiny&again=true")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    expect(page.get_by_text("takes an operator's role")).to_have_count(0)

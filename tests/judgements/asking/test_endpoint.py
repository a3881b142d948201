"""Addresses of machines, and what a server's refusal may repeat."""

from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.base.settings import Settings, load
from compute.judgements.asking import endpoint
from compute.judgements.asking.endpoint import Endpoint, Refused
from tests.support.processes.machine import Answer, machine

ASKED = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (" HTTP://LocalHost:8000/v1/ ", "http://localhost:8000/v1"),
        ("https://api.example.org", "https://api.example.org"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_has_one_spelling(given: str, address: str) -> None:
    assert endpoint.normal(given) == address
    assert endpoint.normal(address) == address


@pytest.mark.parametrize(
    "given",
    [
        "",
        "localhost:8000",
        "ftp://a/v1",
        "http://me:secret@a/v1",
        "http://a/v1?key=1",
        "http://a:b",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(WrongInput, match="the address of a machine is http or https") as error:
        endpoint.normal(given)
    assert "secret" not in str(error.value)


def test_only_a_servers_word_is_repeated_and_none_of_the_key() -> None:
    with machine() as server:
        asking = Endpoint(Settings(judge_address=server.address, judge_key="a_key_of_words"))
        for code, told in (("context_too_long", " (context_too_long)"), ("of_words", "")):
            body = f'{{"error": {{"code": "{code}", "message": "a_key_of_words"}}}}'.encode()
            server.answers = lambda *_, body=body: Answer(status=422, body=body)
            with pytest.raises(Refused) as error:
                asking.ask(ASKED)
            assert str(error.value) == f"refused with status 422{told}"


def test_a_key_that_is_none_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(WrongInput) as error:
        Endpoint(Settings(judge_address="http://a", judge_key="with a\nbreak"))
    assert "break" not in str(error.value)
    (tmp_path / "settings.toml").write_text("judge_key = 47114711\n", "utf-8")
    with pytest.raises(WrongInput, match="not text: put it between quotes") as error:
        load({"BEIRSCOPE_HOME": str(tmp_path)})
    assert "4711" not in str(error.value)

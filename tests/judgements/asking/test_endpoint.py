"""Addresses of machines, and what a server's refusal may repeat."""

import json
from pathlib import Path

import pytest

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings, load
from compute.judgements.asking import endpoint
from compute.judgements.asking.endpoint import Busy, Endpoint, Forbidden, Refused, Strange
from tests.support.processes.machine import Answer, Asked, machine

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
        "http://a:0/v1",
        "http://a/v 1",
        "http://a/v\n1",
        "http://ä/v1",
        "http://a\\b/v1",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(WrongInput, match="the address of an LLM server is http or https") as error:
        endpoint.normal(given)
    assert "secret" not in str(error.value)


def test_only_known_words_of_a_server_are_repeated() -> None:
    with machine() as server:
        asking = Endpoint(Settings(judge_address=server.address, judge_key="a_key_of_words"))
        known = "context_length_exceeded"
        for code, told in ((known, f" ({known})"), ("word_of_a_text", ""), ("of_words", "")):
            body = f'{{"error": {{"code": "{code}", "message": "a_key_of_words"}}}}'.encode()
            server.answers = lambda *_, body=body: Answer(status=422, body=body)  # pyrefly: ignore
            with pytest.raises(Refused) as error:
                asking.ask(ASKED)
            assert str(error.value) == f"refused with status 422{told}"


def _reasoning(asked: Asked, _: int) -> Answer:
    """As models that reason refuse: one parameter a time, by code or in words only."""
    if "max_tokens" in asked.body:
        error = {"code": "unsupported_parameter", "param": "max_tokens", "message": "no"}
    elif "temperature" in asked.body:
        error = {"message": "Unsupported value: 'temperature' does not support 0"}
    else:
        return Answer("2")
    return Answer(status=400, body=json.dumps({"error": error}).encode())


def test_parameters_that_a_server_refuses_are_sent_no_more() -> None:
    with machine() as server:
        server.answers = _reasoning
        asking = Endpoint(Settings(judge_address=server.address), 2_000)
        for _ in range(2):
            with pytest.raises(Busy, match="status 400") as refused:
                asking.ask(ASKED)
            assert (refused.value.wait, refused.value.unspent) == (0, True)
        assert asking.ask(ASKED).text == "2"
        last = server.asked[-1].body
        assert last["max_completion_tokens"] == 2_000
        assert not {"max_tokens", "temperature"} & last.keys()


def test_a_parameter_is_left_out_once_and_not_for_another_fault() -> None:
    error = {"code": "context_length_exceeded", "message": "max_tokens and messages are too long"}
    with machine() as server:
        server.answers = lambda *_: Answer(status=400, body=json.dumps({"error": error}).encode())
        asking = Endpoint(Settings(judge_address=server.address))
        with pytest.raises(Refused, match="context_length_exceeded"):
            asking.ask(ASKED)
        error |= {"code": "unsupported_parameter"}
        with pytest.raises(Busy):
            asking.ask(ASKED)
        with pytest.raises(Refused, match="unsupported_parameter"):
            asking.ask(ASKED)


def test_nothing_of_the_environment_is_sent_or_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-theirs")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-theirs")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-More: of-theirs\nAuthorization: of-theirs")
    with machine() as server:
        Endpoint(Settings(judge_address=server.address, judge_key="key-of-ours")).ask(ASKED)
        (asked,) = server.asked
    assert asked.key == "Bearer key-of-ours"
    assert "of-theirs" not in str(asked.headers)


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ("100", 100),
        ("0", 0),
        ("-5", None),
        ("1e999", None),
        ("1" + "0" * 30, None),
        ("7.5", None),
        ("true", None),
        ('"9"', None),
        ("null", None),
    ],
)
def test_a_number_of_tokens_is_believed_only_if_it_can_be_one(
    said: str, tokens: int | None
) -> None:
    message = '{"message": {"content": "1"}, "finish_reason": "stop"}'
    body = f'{{"choices": [{message}], "usage": {{"total_tokens": {said}}}}}'.encode()
    with machine() as server:
        server.answers = lambda *_: Answer(body=body)
        reply = Endpoint(Settings(judge_address=server.address)).ask(ASKED)
    assert reply.tokens == tokens


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"[" * 100_000),
        Answer(body=b" " * 2_000_000),
        Answer(body=b"{}", headers={"Content-Encoding": "gzip"}),
    ],
)
def test_an_answer_that_is_none_is_one_error(answer: Answer) -> None:
    with machine() as server:
        server.answers = lambda *_: answer
        with pytest.raises(Strange, match="not as OpenAI's chat interface does"):
            Endpoint(Settings(judge_address=server.address)).ask(ASKED)


def test_an_answer_that_comes_by_drops_ends_in_time() -> None:
    with machine() as server:
        server.answers = lambda *_: Answer("1", drops=0.3)
        asking = Endpoint(Settings(judge_address=server.address, judge_seconds=1))
        with pytest.raises(Busy, match="no answer in time"):
            asking.ask(ASKED)


@pytest.mark.parametrize(
    ("status", "error"), [(402, Unavailable), (403, Forbidden), (404, Unavailable), (400, Refused)]
)
def test_what_a_status_means(status: int, error: type[Exception]) -> None:
    with machine() as server:
        server.answers = lambda *_: Answer(status=status)
        with pytest.raises(error):
            Endpoint(Settings(judge_address=server.address)).ask(ASKED)


def test_a_key_that_is_none_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(WrongInput) as error:
        Endpoint(Settings(judge_address="http://a", judge_key="with a\nbreak"))
    assert "break" not in str(error.value)
    (tmp_path / "settings.toml").write_text("judge_key = 47114711\n", "utf-8")
    with pytest.raises(WrongInput, match="not text: put it between quotes") as error:
        load({"BEIRSCOPE_HOME": str(tmp_path)})
    assert "4711" not in str(error.value)

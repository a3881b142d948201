from pathlib import Path

import pytest

from compute.base import redaction
from compute.base.errors import WrongInput
from compute.base.settings import Settings, load


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("depth = 50\nthreads = 3\n", encoding="utf-8")
    now = load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_DEPTH": "20"})
    assert (now.depth, now.threads, now.java_memory) == (20, 3, Settings.java_memory)
    assert now.home == tmp_path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("depht = 5", "no setting 'depht'"),
        ("depth = 'deep'", "not a whole number"),
        ("depth = ", "not valid TOML"),
    ],
)
def test_a_wrong_settings_file_is_refused_with_its_name(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    with pytest.raises(WrongInput, match=words) as refused:
        load({"BEIRSCOPE_HOME": str(tmp_path)})
    assert "settings.toml" in str(refused.value)


def test_settings_behind_a_link_that_leads_nowhere_are_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").symlink_to(tmp_path / "away" / "settings.toml")
    with pytest.raises(WrongInput, match=r"settings\.toml cannot be read"):
        load({"BEIRSCOPE_HOME": str(tmp_path)})


def test_a_wrong_variable_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="BEIRSCOPE_THREADS is 'two'"):
        load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_THREADS": "two"})


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    assert load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_DATASETS": ""}).datasets is None


@pytest.mark.parametrize(("name", "most"), [("JUDGE_AT_ONCE", 64), ("JUDGE_SECONDS", 3600)])
def test_what_has_an_upper_end_is_refused_beyond_it(tmp_path: Path, name: str, most: int) -> None:
    own = {"BEIRSCOPE_HOME": str(tmp_path)}
    assert getattr(load({**own, f"BEIRSCOPE_{name}": str(most)}), name.lower()) == most
    with pytest.raises(WrongInput, match=f"BEIRSCOPE_{name} is {most + 1}, more than"):
        load({**own, f"BEIRSCOPE_{name}": str(most + 1)})


@pytest.mark.parametrize("text", ["too-short", "sixteen or more, but blanks", "é" * 16])
def test_a_token_that_is_guessed_or_mistaken_is_refused_and_not_shown(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(WrongInput, match="metrics_token is not 16 or more") as refused:
        load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_METRICS_TOKEN": text})
    assert text not in str(refused.value)


def test_no_secret_is_in_what_is_said_of_the_settings(tmp_path: Path) -> None:
    own = {"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_METRICS_TOKEN": "a-token-of-this-test"}
    now = load(own)
    assert now.metrics_token == "a-token-of-this-test"
    assert "metrics_token='***'" in repr(now)
    assert "a-token" not in redaction.masked("a-token-of-this-test", {})


def test_logs_are_json_or_as_they_were(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="logs is 'yaml', not json"):
        load({"BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_LOGS": "yaml"})


def test_a_key_from_the_file_is_masked_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("judge_key = 'only-in-the-file'\n", "utf-8")
    load({"BEIRSCOPE_HOME": str(tmp_path)})
    assert redaction.masked("it was only-in-the-file, here", {}) == "it was ***, here"

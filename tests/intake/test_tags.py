"""Runs that come together are called by their tags, or by their files where tags are shared."""

from pathlib import Path

import pytest

from compute.__main__ import main
from compute.intake import tags
from compute.intake.tags import Tagged


def test_a_tag_of_one_file_names_its_run() -> None:
    assert tags.names([Tagged("x.run", "a"), Tagged("y.run", "b")]) == ["a", "b"]


def test_a_tag_of_several_files_names_none_of_them() -> None:
    runs = [Tagged("ours f.run", "run1"), Tagged("run1.txt.gz", "run1"), Tagged("z", "z")]
    called = tags.names(runs)
    assert called == ["ours_f", "run1", "z"]
    assert tags.renamed(runs, called) == [
        "2 files have the tag run1: they are named after their files, ours_f, run1"
    ]


@pytest.mark.parametrize("names", [("mine.txt", "mine.run"), ("other.run", "x.run")])
def test_files_whose_names_settle_nothing_keep_their_tags(names: tuple[str, str]) -> None:
    runs = [*(Tagged(name, "mine") for name in names), Tagged("z", "other")]
    assert tags.names(runs)[0] == "mine"


def test_a_file_that_is_no_run_has_no_tag(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gz"
    broken.write_bytes(b"\x1f\x8b\x08 no gzip")
    judged = tmp_path / "qrels"
    judged.write_text("q1 0 d1 1\n", encoding="utf-8")
    answers = tmp_path / "answers.json"
    answers.write_text('[\n {"text":\n  "a\nGive women 10 mg of estrogen\n"}\n]', encoding="utf-8")
    assert [tags.tag(one) for one in (broken, judged, tmp_path, answers)] == [""] * 4


def test_a_check_of_several_files_ends_with_what_they_come_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"a.run": "q1 Q0 d1 1 1 mine\n", "b.run": "q1 Q0 d1 1 x mine\n", "c": "q1 0 d1 1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["check", str(tmp_path)]) == 2
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "2 files have the tag mine: they are named after their files, a, b",
        "2 of 3 can be imported",
    ]
    assert main(["check", str(tmp_path / "a.run")]) == 0
    assert capsys.readouterr().out.endswith("  can be imported\n")

"""Pages with a system that has versions: none counts unless the address names it."""

from pathlib import Path

import pytest

from compute.__main__ import main
from tests.support.pages import opened, words_of
from tests.support.tiny import write_tiny

FIRST = "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"
BETTER = FIRST.replace("3.0", "1.0")
RUNS = [
    ("other", "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n", []),
    ("mine", FIRST, []),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("versions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        main(["import-dataset", str(write_tiny(folder / "tiny")), "--name", "tiny"])
        file, version = folder / "some.run", ["--as-version", "new", "--note", "<b>d1</b>"]
        for name, lines, options in (*RUNS, ("mine", BETTER, version)):
            file.write_text(lines, "utf-8")
            run = ["import-run", str(file), "--dataset", "tiny", "--system", name]
            assert main([*run, *options]) == 0
    return folder / "home"


@pytest.fixture(autouse=True)
def _in_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def test_compare_tests_two_versions(home: Path) -> None:
    app = opened("pages/compare.py", dataset="tiny", measure="RR@10", a="mine", b="other")
    assert app.selectbox(key="b").options == ["mine", "mine, version 1", "other"]
    app.selectbox(key="b").select("mine@1").run()
    assert app.query_params["b"] == "mine@1"
    assert not app.warning
    assert "mine, version 1" in words_of(app)
    assert "+.167" in words_of(app)


def test_a_board_has_a_version_only_where_it_is_picked(home: Path) -> None:
    app = opened(numbers="Computed", measure="RR@10")
    offered = app.multiselect(key="systems").options
    assert offered == ["mine", "mine, version 1", "other"]
    assert "2 systems" in words_of(app)
    picked = opened(numbers="Computed", measure="RR@10", systems=["mine", "mine@1"])
    assert "2 of 3 systems shown" in words_of(picked)


def test_versions_are_shown_on_the_command_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["versions", "--dataset", "tiny", "--measure", "RR@10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["tiny", "mine@1", "1"],
        ["tiny", "mine", "new"],
    ]
    assert main(["versions", "--system", "other"]) == 2
    assert "no version is kept" in capsys.readouterr().err
    assert main(["versions", "--system", "mine@1"]) == 2
    assert "mine@1 is a version: give its system, --system mine" in capsys.readouterr().err

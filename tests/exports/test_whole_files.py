"""What is written to a file outside the store is there whole, old or new, never torn."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.exports import all_figures, verdicts
from compute.recompute import score_check
from tests.support import filled
from tests.support.processes import prepared
from tests.support.processes.jobbing import environment

KILLED = """
import os, signal, sys
from pathlib import Path
def renamed(self, target):
    if str(target) == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.replace(self, target)
Path.replace = renamed
from compute.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


def test_of_two_who_write_one_file_at_once_one_is_there_whole(tmp_path: Path) -> None:
    file, contents = tmp_path / "board.csv", [bytes([n]) * 3_000_000 for n in range(8)]
    for put in (all_figures.put, lambda path, content: verdicts.write(content, path)):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda content, put=put: put(file, content), contents))
        assert file.read_bytes() in contents
        assert [*tmp_path.iterdir()] == [file]


@pytest.mark.long
@pytest.mark.parametrize("command", ["scores", "table"])
def test_a_killed_writer_leaves_the_file_of_before(tmp_path: Path, command: str) -> None:
    bench = filled.bench(tmp_path)
    filled.take(bench, {"some": "q1 Q0 d1 1 2.0 t\n"})
    file = bench.settings.home / score_check.FILE if command == "scores" else tmp_path / "old.csv"
    words = {
        "scores": ["check", "--scores"],
        "table": ["export", "table", "leaderboard", "--out", str(file)],
    }
    file.write_text("old", "utf-8")
    ended = prepared.run(
        [sys.executable, "-c", KILLED, str(file), *words[command]],
        cwd=PROJECT,
        env=environment(bench.settings) | {"BEIRSCOPE_SHIPPED_RESULTS": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stdout
    assert file.read_text("utf-8") == "old"
    left = [one.suffix for one in file.parent.iterdir() if one.name.startswith(".")]
    assert left == [".tmp"], "hidden, and under no name of a result"

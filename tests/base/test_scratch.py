import ast
import os
import subprocess
import sys
from pathlib import Path

from compute.base import scratch
from compute.base.settings import PROJECT

OWNER = """
import sys
from pathlib import Path
from compute.base import scratch
with scratch.folder(Path(sys.argv[1]), "own-") as folder:
    (folder / "topics.tsv").write_text("a query")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_scratch_folder_is_gone_with_its_block(tmp_path: Path) -> None:
    with scratch.folder(tmp_path, "own-") as folder:
        (folder / "some").write_text("words")
        assert folder.parent == tmp_path / "tmp"
        assert scratch.sweep(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_nothing_of_one_that_lives(tmp_path: Path) -> None:
    words = [sys.executable, "-c", OWNER, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=PROJECT, stdin=pipe, stdout=pipe, text=True) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip())
        assert scratch.sweep(tmp_path) == []
        assert (folder / "topics.tsv").exists()
        owner.kill()
    assert scratch.sweep(tmp_path) == [folder]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_nobody_ever_locked_stays_a_day(tmp_path: Path) -> None:
    young, old = tmp_path / "tmp" / "young", tmp_path / "uploads" / "old"
    for folder in (young, old):
        folder.mkdir(parents=True)
    a_day_ago = old.stat().st_mtime - scratch.UNLOCKED_STAYS - 60
    os.utime(old, (a_day_ago, a_day_ago))
    assert scratch.sweep(tmp_path) == [old]
    assert young.exists()


def test_no_temporary_folder_is_made_where_the_system_keeps_its_own() -> None:
    for file in (*PROJECT.glob("compute/**/*.py"), *PROJECT.glob("pages/*.py")):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                given = {word.arg for word in call.keywords}
                assert name not in ("TemporaryDirectory", "mkdtemp") or "dir" in given, file

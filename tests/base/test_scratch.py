import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    # Whoever makes a folder may need the room.
    with scratch.folder(tmp_path, "own-"):
        assert not folder.exists()
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("place", [scratch.TMP, scratch.UPLOADS])
def test_what_nobody_locked_here_stays_however_old_it_is(tmp_path: Path, place: str) -> None:
    big = tmp_path / "big"
    for name in ("thesis", "own-12345678"):
        (big / name).mkdir(parents=True)
        (big / name / "chapter").write_text("one")
    (big / "thesis.lock").touch()
    home = tmp_path / "home"
    (home / place).mkdir(parents=True)
    (home / place / "own-87654321").symlink_to(big)
    for name in ("own-87654321.lock", "thesis.lock"):
        (home / place / name).touch()
    (home / place / "thesis").mkdir()
    for folder in (home / place, big):
        for path in [*folder.rglob("*")]:
            os.utime(path, (0, 0), follow_symlinks=False)
    assert scratch.sweep(home) == []
    shutil.rmtree(home / place)
    (home / place).symlink_to(big)
    (big / "own-12345678.lock").touch()
    assert scratch.sweep(home) == []
    with scratch.folder(home, "own-", place) as made:
        (made / "some").write_text("words")
    names = {str(path.relative_to(big)) for path in big.rglob("*")}
    chapters = {"thesis/chapter", "own-12345678/chapter"}
    assert names == {"thesis", "own-12345678", "thesis.lock", "own-12345678.lock"} | chapters


@pytest.mark.long
def test_no_temporary_folder_is_made_where_the_system_keeps_its_own() -> None:
    for file in (*PROJECT.glob("compute/**/*.py"), *PROJECT.glob("pages/*.py")):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                given = {word.arg for word in call.keywords}
                assert name not in ("TemporaryDirectory", "mkdtemp") or "dir" in given, file

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from compute.base.errors import Conflict
from compute.base.locks import is_held, locked, sole

HOLD = """
import sys
from pathlib import Path
from compute.base.locks import sole
with sole(Path(sys.argv[1])) as held:
    held.write("mine")
    held.flush()
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(file: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_one_process_holds_the_lock_and_the_other_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.lock"
    holder = holding(file)
    with sole(file) as held:
        assert held is None
    assert is_held(file)
    assert file.read_text("utf-8") == "mine"
    holder.kill()
    holder.communicate()
    assert not is_held(file)
    with sole(file) as held:
        assert held is not None


def test_a_lock_that_was_never_taken_is_not_held(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "none.lock")


def test_a_lock_is_waited_for_until_its_process_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.lock"
    holder = holding(file)
    ending = threading.Timer(0.5, holder.kill)
    ending.start()
    with sole(file, wait=60) as held:
        assert held is not None
    ending.join()
    holder.communicate()


@pytest.mark.parametrize("how", [sole, locked])
@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda file: file.symlink_to("target")])
def test_what_is_no_plain_file_is_refused_and_not_waited_for(
    how: Callable[[Path], AbstractContextManager[object]],
    make: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    (tmp_path / "target").write_text("kept", "utf-8")
    make(tmp_path / "a.lock")
    with pytest.raises(Conflict, match=r"a\.lock is not a plain file"), how(tmp_path / "a.lock"):
        pass
    assert (tmp_path / "target").read_text("utf-8") == "kept"
    assert not is_held(tmp_path / "a.lock")

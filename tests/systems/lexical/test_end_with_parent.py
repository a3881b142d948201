import subprocess
import sys
from pathlib import Path

from compute.systems.lexical import end_with_parent


def _start(script: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", str(Path(end_with_parent.__file__)), sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_a_command_ends_when_its_caller_lets_go() -> None:
    with _start("import signal; print('ready', flush=True); signal.pause()") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 128 + 9


def test_the_exit_status_is_that_of_the_command() -> None:
    with _start("raise SystemExit(3)") as process:
        assert process.wait(timeout=60) == 3


def test_a_command_that_is_asked_to_end_ends_in_order() -> None:
    script = """
import signal
signal.signal(signal.SIGTERM, lambda *_: exit(7))
print("ready", flush=True)
signal.pause()
"""
    with _start(script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(timeout=60) == 7

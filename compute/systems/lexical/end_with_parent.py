"""Run a command that ends when its caller does: `python end_with_parent.py COMMAND…`.

Standard input is the leash: the caller holds its other end, and however the caller dies, even by
kill -9, the pipe closes and the command is killed. A signal handler could not guarantee that.
"""

import os
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    """The exit status of `command`; 128 and more if a signal ended it."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    # Wait for a command that ends properly when asked to.
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    threading.Thread(target=_follow, args=(child,), daemon=True).start()
    status = child.wait()
    return status if status >= 0 else 128 - status


def _follow(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1):
        pass
    child.kill()


if __name__ == "__main__":
    # Not sys.exit: the interpreter must not wait for the thread that reads the leash.
    os._exit(main(sys.argv[1:]))

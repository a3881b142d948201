"""Run a command that ends when its caller does: `python end_with_parent.py COMMAND…`. The caller
holds the other end of standard input. However the caller dies, even by kill -9, the pipe closes and
the command is killed. A signal handler could not guarantee that."""

import os
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    """Run `command` and return its exit status; it is above 128 if a signal ended the command."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    # On SIGTERM, the command is asked to end, and this waits for it.
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    threading.Thread(target=_follow, args=(child,), daemon=True).start()
    status = child.wait()
    return status if status >= 0 else 128 - status


def _follow(child: subprocess.Popen[bytes]) -> None:
    """Kill the command once standard input is closed."""
    while os.read(0, 1):
        pass
    child.kill()


if __name__ == "__main__":
    # Unlike sys.exit, this does not wait for the thread that reads standard input.
    os._exit(main(sys.argv[1:]))

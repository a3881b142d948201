"""A worker that kills itself, as kill -9 does, at a step.

`python -m tests.support.processes.dying_worker WHEN STEP`

WHEN is `before` (the step is about to begin), `during` (it has reported progress) or `after` (it
is done and nobody has been told). Production code has no hook for this: the process wraps its own.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from compute.base import settings
from compute.jobs import worker
from compute.jobs.child_process import Child
from compute.store.loading import Progress


def die() -> None:
    """End at once, without any goodbye."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(when: str, step: str) -> None:
    """Set the trap."""
    inner = Child.do

    def do(
        self: Child, order: Mapping[str, Any], *, watch: Progress, wanted: Callable[[], bool]
    ) -> dict[str, Any]:
        here = order["step"] == step

        def watched(done: int, total: int, unit: str) -> None:
            watch(done, total, unit)
            if here and when == "during":
                die()

        if here and when == "before":
            die()
        answer = inner(self, order, watch=watched, wanted=wanted)
        if here and when == "after":
            die()
        return answer

    Child.do = do


if __name__ == "__main__":
    arm(sys.argv[1], sys.argv[2])
    worker.work(settings.load())

"""A task that waits for its shards: how far they are together, and what became of them."""

import contextlib
import os
import time
from collections.abc import Iterable, Mapping

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.jobs import logs, queue, records
from compute.jobs.child_process import StepFailed, Stopped
from compute.jobs.watching import Watch
from compute.store.store import shard_path

LOOK = 1.0
"""Seconds between two looks at the shards."""
KEPT = 600.0
"""Seconds between two uses of the shards that are made: all may take longer than one stays."""
_STEP = "index"
"""What they are of: the step that the progress is told as."""


class Waiting:
    """The shards of one task."""

    def __init__(
        self, settings: Settings, task: str, sizes: Mapping[str, int], names: Iterable[str]
    ) -> None:
        """`sizes` are the documents of each shard, by its id; `names` what its files are called."""
        self._settings, self._task, self._sizes = settings, task, dict(sizes)
        self._files = [settings.home / shard_path(name) for name in names]
        self._kept = time.monotonic()

    def wait(self, worker: str) -> dict[str, int]:
        """Wait until all have ended, and tell how far they are; how many shards there are.

        One that was cancelled counts as ended: the step after this makes what is missing. Raises
        StepFailed where one failed, Stopped when the task is no longer the worker's to do.
        """
        watch = Watch(self._settings, self._task, _STEP)
        watch.begin()
        try:
            left = True
            while left:
                left = self._look(watch)
                self._keep()
                # With the task its shards were cancelled, too: they have ended, not been made.
                if not watch.wanted(worker):
                    raise Stopped(self._task)
                time.sleep(LOOK if left else 0)
        finally:
            watch.end()
        logs.write(self._settings, self._task, f"{len(self._sizes)} shards: done")
        return {"shards": len(self._sizes)}

    def _look(self, watch: Watch) -> bool:
        """Whether some shards are still to be made. Raises StepFailed."""
        try:
            found = records.named(self._settings, list(self._sizes))
        except Unavailable:
            # A database that is away ends nothing.
            return True
        failed = [shard for shard in found if shard.state == records.FAILED]
        if failed:
            self._cancel(shard.id for shard in found if shard.active)
            raise StepFailed(f"{failed[0].title}: {failed[0].error}")
        done = sum(map(self._documents, found))
        watch(done, sum(self._sizes.values()), "documents")
        return any(shard.active for shard in found)

    def _keep(self) -> None:
        if time.monotonic() - self._kept >= KEPT:
            self._kept = time.monotonic()
            for file in self._files:
                with contextlib.suppress(FileNotFoundError):
                    os.utime(file)

    def _documents(self, shard: records.Job) -> int:
        if not shard.active:
            return self._sizes[shard.id]
        return shard.progress.done if shard.progress else 0

    def _cancel(self, names: Iterable[str]) -> None:
        with queue.client(self._settings) as client:
            client.cancel_workflows(list(names))

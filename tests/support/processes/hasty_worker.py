"""A worker whose heart beats faster, for tests that wait for its beats.

`python -m tests.support.processes.hasty_worker BEAT SILENCE`

Both are seconds, as in `compute.jobs.workers`.
"""

import sys

from compute.base import settings
from compute.jobs import worker, workers

if __name__ == "__main__":
    workers.BEAT, workers.SILENCE = map(float, sys.argv[1:])
    worker.work(settings.load())

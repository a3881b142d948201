"""Jobs: computations that workers run in the background, queued by DBOS. Read `queue` first.
Importing this package loads neither DBOS nor any code that computes."""

from compute.jobs.kinds import KINDS, share
from compute.jobs.logs import file as log_file
from compute.jobs.logs import tail as log_tail
from compute.jobs.matrix import Estimate, estimate, matrix
from compute.jobs.queue import Started, cancel, retry, start, start_judging
from compute.jobs.records import Job, Progress, job, tasks
from compute.jobs.records import jobs as listed
from compute.jobs.workers import Worker, being_installed, not_installed
from compute.jobs.workers import alive as workers_alive
from compute.jobs.workers import lacking as workers_lacking

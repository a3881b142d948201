"""`python -m tests.benchmarks.growth bm25 [DOCUMENTS …]`."""

import sys

from tests.benchmarks.growth import bm25

bm25.table([int(word) for word in sys.argv[2:]] or bm25.SIZES)

"""A process that imports a run and is killed.

`python -m tests.support.processes.importer HOME FILE WHERE N`: the places are those of
`tests.support.processes.publisher`, at the Nth time that this process comes there.
"""

import sys
from pathlib import Path

from compute.base.settings import Settings
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from tests.support.processes.publisher import arm


def main() -> None:
    """Import the run into the home's dataset `tiny`."""
    home, file, place, calls = sys.argv[1:]
    now = Settings(home=Path(home), threads=1)
    bench = Bench(Store(now), now)
    row = own_datasets(bench.store)["tiny"]
    arm(place, int(calls))
    imports.import_run(bench, Path(file), row)


if __name__ == "__main__":
    main()

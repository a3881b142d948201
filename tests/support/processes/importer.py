"""A process that imports a run and is killed.

`python -m tests.support.processes.importer HOME FILE WHERE N [LABEL]`: the places are those of
`tests.support.processes.publisher`, at the Nth time that this process comes there. With a label
the run comes in as that version of another.
"""

import sys
from pathlib import Path

from compute.base.settings import Settings
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.run_versions import Version
from compute.store.store import Store
from tests.support.processes.publisher import arm


def main() -> None:
    """Import the run into the home's dataset `tiny`."""
    home, file, place, calls, *label = sys.argv[1:]
    now = Settings(home=Path(home), threads=1)
    bench = Bench(Store(now), now)
    row = own_datasets(bench.store)["tiny"]
    arm(place, int(calls))
    version = Version(label[0]) if label else None
    imports.import_run(bench, Path(file), row, version=version)


if __name__ == "__main__":
    main()

"""The datasets command, which lists every dataset."""

from collections import Counter

from compute.base import printable, settings
from compute.commands import options
from compute.datasets import DATASETS
from compute.store.own_datasets import own_datasets
from compute.store.store import Store


def datasets(*, stored: bool = False, json: options.Json = False) -> int:
    """List every dataset and whether it is stored.

    Args:
        stored: only stored datasets
    """
    store = Store(settings.load())
    here = {part.dataset for part in store.parts("queries")}
    runs = Counter(part.dataset for part in store.parts("hits"))
    rows = [
        {
            "dataset": row.name,
            "title": row.title,
            "group": row.group,
            "split": row.split if row.has_split else None,
            "task": row.task,
            "stored": "yes" if row.name in here else "no",
            "runs": runs[row.name],
        }
        for row in (dict(DATASETS) | own_datasets(store)).values()
        if row.name in here or not stored
    ]
    return printable.show_rows(rows, json)

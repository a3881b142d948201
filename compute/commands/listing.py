"""The command that lists every dataset: datasets."""

from argparse import Namespace
from collections import Counter

from compute.base import printable, settings
from compute.datasets import DATASETS
from compute.store.own_datasets import own_datasets
from compute.store.store import Store


def datasets(arguments: Namespace) -> int:
    """List every dataset, or those that are stored, with what is stored of it."""
    store = Store(settings.load())
    stored = {part.dataset for part in store.parts("queries")}
    runs = Counter(part.dataset for part in store.parts("hits"))
    rows = [
        {
            "dataset": row.name,
            "title": row.title,
            "group": row.group,
            "split": row.split if row.has_split else None,
            "task": row.task,
            "stored": "yes" if row.name in stored else "no",
            "runs": runs[row.name],
        }
        for row in (dict(DATASETS) | own_datasets(store)).values()
        if row.name in stored or not arguments.stored
    ]
    return printable.show_rows(rows, arguments.json)

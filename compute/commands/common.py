"""What the commands share: the bench they work at, the datasets they name, what they tell."""

import sys
from collections.abc import Iterable, Iterator

from compute import imports, loading, reading, recompute, settings, terminal
from compute.datasets import Dataset, dataset
from compute.recompute import Bench
from compute.store import Part, Store
from compute.wording import counted


def open_bench() -> Bench:
    """The store of this home, with a progress bar where a person watches."""
    now = settings.load()
    return Bench(Store(now), now, terminal.Bar() if sys.stderr.isatty() else loading.quiet)


def known(bench: Bench) -> dict[str, Dataset]:
    """The user's own datasets by name."""
    return imports.own_datasets(bench.store)


def named(bench: Bench, names: Iterable[str]) -> list[Dataset]:
    """The datasets of these names, a dataset of parts as its parts. Raises Missing."""
    found = known(bench)
    rows = [dataset(name, found) for name in names]
    return [dataset(part, found) for row in rows for part in row.parts or (row.name,)]


def tell(bench: Bench, row: Dataset, name: str, outcome: recompute.Outcome) -> None:
    """Print what a run came to."""
    if isinstance(bench.progress, terminal.Bar):
        bench.progress.close()
    sys.stdout.write(f"{terminal.printable(name)} on {row.name}: {said(bench, outcome)}\n")
    sys.stdout.flush()


def said(bench: Bench, outcome: recompute.Outcome) -> str:
    """Two means of a run, and what may make them lower than they should be."""
    scores = recompute.read(outcome.scores).groupby("measure")["value"].mean()
    values = ", ".join(f"{m} {scores[m]:.4f}" for m in ("nDCG@10", "R@100") if m in scores)
    news = [*([] if outcome.new else ["up to date"]), *_remarks(bench, outcome.hits)]
    return f"{values} ({'; '.join(news)})" if news else values


def _remarks(bench: Bench, hits: Part) -> Iterator[str]:
    """What may make a score lower than it should be."""
    about = hits.provenance
    queries = bench.store.part("queries", hits.dataset)
    top = bench.store.part("top", hits.dataset, hits.system)
    answered = int((recompute.read(top)["rank"] == 1).sum()) if top else None
    if queries and answered is not None and answered < queries.rows:
        yield f"answers {answered:,} of {queries.rows:,} queries"
    if others := about.get("hits_of_other_queries"):
        yield f"{counted(others, 'hit')} of queries outside the split left out"
    if again := about.get("duplicates"):
        yield f"{counted(again, 'hit')} of documents that stand higher in the same list left out"


def done(bench: Bench) -> int:
    """Write the database for notebooks anew, and tidy away what is old."""
    reading.write_database(bench.store)
    bench.store.tidy()
    return 0

"""Simulated judging: how many judgements each order needs until the leaderboard stands.

    python -m tests.benchmarks.orders RUNS FOLDER [STARTING RUN …]      (default: every run)
    python -m tests.benchmarks.orders --stored DATASET …

The folder holds runs (`*.gz`) and `qrels.txt.gz`, as the TREC-COVID round 1 archive has them.
Judging starts from the judgements in one run's top 10 and goes on through the judged pairs of the
pool; counted are the judgements until Kendall's tau with the final order stays above 0.9. An
order that learns is asked again after every 10 judgements (in brackets: how often else).
`--stored` takes the runs of stored datasets instead, where what nobody judged counts as judged
not relevant: so it is in collections that record relevant documents only.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from compute.base import settings
from compute.judgements import orders
from compute.reading.database import open_version
from compute.store.store import Store
from tests.support.simulating import (
    PAIR,
    Contest,
    Flags,
    K,
    Rows,
    from_files,
    in_order,
    needed,
    taus,
)

SEEDS = range(20)
Arrange = Callable[[Contest, Flags], Rows]
ARRANGED: dict[str, Arrange] = {
    "impact [1]": partial(in_order, name="impact", every=1),
    "impact": partial(in_order, name="impact", every=10),
    "impact [50]": partial(in_order, name="impact", every=50),
    "impact [never]": partial(in_order, name="impact", every=0),
    "move-to-front": partial(in_order, name="move-to-front", every=10),
    "move-to-front [never]": partial(in_order, name="move-to-front", every=0),
    "fusion": partial(in_order, name="fusion", every=0),
    "depth": partial(in_order, name="depth", every=0),
}


def simulate(contest: Contest, starts: list[str], arranged: dict[str, Arrange]) -> None:
    final = contest.means(contest.judged)
    pool = contest.means(contest.judged & contest.pooled)
    (near,) = taus(pool[None], final)
    say(
        f"{len(contest.systems)} systems, {int(contest.judged.sum()):,} judgements, of them"
        f" {int((contest.judged & contest.pooled).sum()):,} in the pool of"
        f" {int(contest.pooled.sum()):,}; by the pool's alone: at most"
        f" {np.abs(pool - final).max():.6f} from the full scores, tau {near:.4f}"
    )
    say("| start | tau | hidden | " + " | ".join(arranged) + " | random: median (range) |")
    rows = []
    for start in starts:
        flags = contest.of(start)
        costs = [cost(contest, flags, final, arrange) for arrange in arranged.values()]
        chance = [
            cost(contest, flags, final, partial(in_order, name="random", every=0, seed=seed))
            for seed in SEEDS
        ]
        rows.append([*costs, median(chance)])
        (tau,) = taus(contest.means(flags)[None], final)
        hidden = int((contest.judged & contest.pooled & ~flags).sum())
        shown = f"{median(chance):g} ({min(chance)} to {max(chance)})"
        say(f"| {start} | {tau:.4f} | {hidden} | {' | '.join(map(str, costs))} | {shown} |")
    columns = np.array(rows).T
    say("| median |  |  | " + " | ".join(f"{np.median(column):g}" for column in columns) + " |")
    ranges = (f"{column.min():g} to {column.max():g}" for column in columns)
    say("| range |  |  | " + " | ".join(ranges) + " |")


def cost(contest: Contest, start: Flags, final: np.ndarray, arrange: Arrange) -> int:
    return needed(contest.trajectory(start, arrange(contest, start)), final)


def stored(dataset: str) -> Contest:
    """The stored runs of a dataset, its pool judged as a whole."""
    reading = open_version(Store(settings.load()))
    select = f"select system, query_id, doc_id, rank from top where dataset = ? and rank <= {K}"
    top = reading.cursor().execute(select, [dataset]).df()
    found = reading.cursor().execute(
        "select query_id, doc_id, relevance from judgements where dataset = ?", [dataset]
    )
    judgements = found.df()
    top = top[top["query_id"].isin(judgements["query_id"])]
    holes = orders.pool(top, judgements, K).assign(relevance=0)
    return Contest(top, pd.concat([judgements, holes])[[*PAIR, "relevance"]])


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: list[str]) -> None:
    if words[0] == "--stored":
        # Large pools: once more after every judgement would take hours.
        fewer = {name: arrange for name, arrange in ARRANGED.items() if name != "impact [1]"}
        for dataset in words[1:]:
            contest = stored(dataset)
            say(dataset)
            simulate(contest, contest.systems, fewer)
    else:
        contest = from_files(Path(words[0]))
        simulate(contest, words[1:] or contest.systems, ARRANGED)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Polish against English on all datasets: published pairs, and stored runs query by query."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.words import counted
from compute.datasets.catalogue import counterpart, is_polish
from compute.evaluate.significance import student
from compute.evaluate.tolerance import TOLERANCE
from compute.reading.questions import question
from compute.views.compare import figures
from compute.views.leaderboard import select
from compute.views.page import Ask, Figure, Message, Note, Step
from compute.views.shared import catalogue
from compute.views.shared.theme import plain, signed

POLISH, ENGLISH = LANGUAGES = ("Polish", "English")
HERE = "computed"
_COUNTS = ("a_better", "equal", "b_better")


@question(datasets=("english", "polish"), shows="runs")
def paired(
    cursor: DuckDBPyConnection, english: Sequence[str], polish: Sequence[str], measure: str
) -> DataFrame:
    """Compare runs of one system on a dataset in both languages, over their shared queries: dataset
    (the English one), system, n, mean_a (Polish), mean_b (English), difference (a - b), spread (its
    standard deviation), a_better, equal, b_better (numbers of queries). `polish` names the
    counterpart of each of `english`."""
    return cursor.execute(
        """
        with pairs as (select unnest($english) as dataset, unnest($polish) as other),
        valued as (
            select pairs.dataset, one.system, two.value as a, one.value as b
            from pairs join scores as one on one.dataset = pairs.dataset
            join scores as two on two.dataset = other and two.system = one.system
                and two.query_id = one.query_id and two.measure = one.measure
            where one.measure = $measure
        )
        select dataset, system, count(*) as n, favg(a) as mean_a, favg(b) as mean_b,
               favg(a - b) as difference, stddev_samp(a - b) as spread,
               count(*) filter (where a - b > $tolerance) as a_better,
               count(*) filter (where abs(a - b) <= $tolerance) as equal,
               count(*) filter (where b - a > $tolerance) as b_better
        from valued where a is not null and b is not null
        group by dataset, system order by dataset, system
        """,
        {
            "english": list(english),
            "polish": list(polish),
            "measure": measure,
            "tolerance": TOLERANCE,
        },
    ).df()


def printed_pairs(printed: DataFrame) -> DataFrame:
    """Return the systems that a published table reports on a dataset in both languages: dataset
    (the English one), system, source, mean_a (Polish), mean_b (English), difference (a - b).
    `printed`: source, dataset, system, value."""
    there = printed.assign(dataset=printed["dataset"].map(counterpart))
    keys = ["source", "dataset", "system"]
    both = there.merge(printed, on=keys, suffixes=("_a", "_b"))
    # Pandas does not infer booleans from a frame without rows.
    both = both[~both["dataset"].map(is_polish).astype(bool)]
    both = both.rename(columns={"value_a": "mean_a", "value_b": "mean_b"})
    found = both[[*keys, "mean_a", "mean_b"]]
    return found.assign(difference=found["mean_a"] - found["mean_b"]).reset_index(drop=True)


def rows(ask: Ask, measure: str) -> DataFrame:
    """Return the rows of `paired` with 95% intervals and those of `printed_pairs`, whose counts and
    intervals are absent; all with titles."""
    named = ask(catalogue.datasets)
    titles = dict(zip(named["dataset"], named["title"], strict=True))
    english = [name for name in titles if counterpart(name) in titles and not is_polish(name)]
    polish = [counterpart(name) for name in english]
    here = ask(paired, english=english, polish=polish, measure=measure)
    # A single query has no spread and therefore no interval.
    error = here["spread"] / np.sqrt(here["n"])
    low, high = student(here["difference"], error, here["n"] - 1)
    here = here.assign(low=low, high=high, source=HERE)
    printed = printed_pairs(ask(select.printed_of, measure=measure))
    printed = printed.assign(n=0, low=np.nan, high=np.nan, **dict.fromkeys(_COUNTS, np.nan))
    found = pd.concat([one for one in (here, printed) if len(one)] or [printed])
    order = {name: place for place, name in enumerate(titles)}
    found["place"] = found["dataset"].map(order)
    found = found.sort_values(["source", "system", "place"], ascending=[False, True, True])
    systems = ask(catalogue.systems).set_index("system")["title"].to_dict()
    several = len(found[["system", "source"]].drop_duplicates()) > 1
    found["of"] = found["system"].map(lambda one: systems.get(one, one))
    said = ": " + found["of"] + np.where(found["n"] == 0, " (printed)", "")
    found["title"] = found["dataset"].map(titles) + (said if several else "")
    return found.reset_index(drop=True)


def section(ask: Ask, measure: str) -> Iterator[Step]:
    """Yield a figure of the differences, and their summary."""
    found = rows(ask, measure)
    if found.empty:
        yield Message(f"No system has {measure} on a dataset in Polish and in English.")
        return
    drawn = partial(figures.forest, found, LANGUAGES, measure, names=LANGUAGES)
    said = "Blue: better in Polish; orange: worse. Hollow: no interval, or one that contains 0."
    yield Figure("languages", f"{measure} in Polish minus English", drawn, said, of=("measure",))
    yield Note(
        [
            *_means(found),
            "Published: BEIR-PL, Table 3. Computed: over the queries in both languages, with"
            " 95% intervals of the mean difference.",
            "Systems with the same name differ between languages. For Polish, the analyser is"
            " Morfologik here and Stempel in the paper.",
        ]
    )


def _means(found: DataFrame) -> Iterator[str]:
    for (source, _), own in found.groupby(["source", "system"], sort=False):
        a, b = own["mean_a"].mean(), own["mean_b"].mean()
        over = f"{own['of'].iloc[0]}, {source}, mean over {counted(len(own), 'dataset')}"
        yield f"{over}: {POLISH} {plain(a)}, {ENGLISH} {plain(b)}, difference {signed(a - b)}."

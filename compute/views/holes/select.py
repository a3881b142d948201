"""Questions the Holes page asks: unjudged shares, ranges, pairs, pool and agreement. They use the
cursor's judgements: official, or official and added."""

from collections.abc import Iterator, Sequence

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.evaluate import holes, measures, pools
from compute.evaluate.tolerance import order
from compute.judgements import Choice, agreement
from compute.reading import judgement_sets
from compute.reading.questions import question, select
from compute.views.annotate import select_added
from compute.views.annotate.select import judged as official
from compute.views.holes import select_unjudged
from compute.views.shared.held_lists import ADDED, OFFICIAL, held, judged

Cursor = DuckDBPyConnection


@question(datasets=("dataset",), whole=True)
def recorded(cursor: Cursor, dataset: str) -> DataFrame:
    """Count the judgements of a dataset in one row: n_judgements and highest (relevance) of all,
    n_not_relevant of the official ones, n_added and n_added_not_relevant of added ones."""
    official = judged(cursor, dataset, OFFICIAL)["relevance"].to_numpy()
    added = judged(cursor, dataset, ADDED)["relevance"].to_numpy()
    counts = {
        "n_judgements": len(official) + len(added),
        "highest": max(official.max(initial=0), added.max(initial=0)),
        "n_not_relevant": int((official <= 0).sum()),
        "n_added": len(added),
        "n_added_not_relevant": int((added <= 0).sum()),
    }
    return DataFrame([counts])


@select()
def kept() -> str:
    """Select dataset, system and depth, the stored depth of each run."""
    return """
        select dataset, system,
               cast(coalesce(provenance->>'$.cut', provenance->>'$.depth') as bigint) as depth
        from parts where kind = 'hits'
    """


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def bounds(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    most_hits: int | None = None,
    *,
    guesses: bool = True,
) -> DataFrame:
    """Return the scores and possible scores of systems, the best first.

    Columns: system, n_queries, n_holes (pairs), value, low, high (means over the queries, by the
    unjudged documents of the system's own list), pool_low, pool_high, collection_low,
    collection_high (wider ranges, as from `holes.bounds`), hole and hole_beir (both definitions of
    Hole@k). The pool is absent if `most_hits` (`unjudged.outside`) forbids it. With `guesses`, if
    they are meaningful (`holes.tells_more`), also: expected, by the rates of the added judgements
    if the official ones contain only relevant documents; and condensed, the full stored list
    without its unjudged documents.
    """
    lists = held(cursor, dataset, systems, _cut(measure))
    outside = select_unjudged.outside(cursor, dataset, lists, measure, most_hits)
    frame = holes.means(lists, measure, outside)
    frame["hole"] = holes.hole(lists, lists.depth)
    frame["hole_beir"] = holes.hole_beir(lists, lists.depth)
    if guesses:
        frame = frame.assign(**_guesses(cursor, dataset, systems, measure, lists))
    return frame.iloc[order(frame["value"], frame.index)].reset_index()


def _guesses(
    cursor: Cursor, dataset: str, systems: Sequence[str], measure: str, lists: holes.Lists
) -> dict[str, Series]:
    """Return the meaningful guesses of `bounds` (expected, condensed), by system."""
    (counts,) = recorded(cursor, dataset).to_dict("records")
    if not holes.tells_more(*(counts[name] for name in _TELLING)):
        return {}
    found, k = {}, _cut(measure)
    if holes.is_expected(measure):
        told = lists
        if not counts["n_not_relevant"]:
            told = lists.beside(held(cursor, dataset, systems, k, official=True))
        found["expected"] = holes.expected(lists, measure, told).mean(axis=1)
    condensed = holes.condensed(held(cursor, dataset, systems, k, closed=True), measure)
    return found | {"condensed": condensed.mean(axis=1)}


@question(datasets=("dataset",), systems=("systems",), confined=False, shows="runs")
def ranges(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    rule: str,
    sources: Sequence[str],
) -> DataFrame:
    """Return `bounds` by official and added judgements, without guesses. After a judgement this is
    faster than a cursor that counts both, which would rescore."""
    judged = judgement_sets.with_added(cursor, dataset, Choice(rule, tuple(sources)))
    with judgement_sets.counting(cursor, dataset, judged):
        return bounds(cursor, dataset, systems, measure, guesses=False)


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def pairs(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    most_hits: int | None = None,
) -> DataFrame:
    """Return the possible order flips from `holes.pairs`, in the ranges of `bounds`."""
    lists = held(cursor, dataset, systems, _cut(measure))
    outside = select_unjudged.outside(cursor, dataset, lists, measure, most_hits)
    return holes.pairs(lists, measure, outside)


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def by_rank(cursor: Cursor, dataset: str, systems: Sequence[str], k: int) -> DataFrame:
    """Count queries by system and rank, from `holes.by_rank`: n_filled, n_holes, n_relevant."""
    return holes.by_rank(held(cursor, dataset, systems, k))


_TELLING = ("n_not_relevant", "n_added", "n_added_not_relevant")


def _cut(measure: str) -> int:
    """Return the depth of a measure; 10 if it has none."""
    return measures.parse(measure).k or 10


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def left_out(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """Return each system's score without its unique judgements, from `pools.leave_one_out`."""
    return pools.leave_one_out(held(cursor, dataset, systems, _cut(measure)), measure)


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def gains(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """Return the effect of the cursor's added judgements on each system, from `pools.gains`."""
    before = held(cursor, dataset, systems, _cut(measure), official=True)
    return pools.gains(before, held(cursor, dataset, systems, _cut(measure)), measure)


@question(datasets=("dataset",), confined=False, shows="datasets")
def kappas(cursor: DuckDBPyConnection, dataset: str, weights: str) -> DataFrame:
    """Return Cohen's kappa of each pair of people, from `agreement.kappas`."""
    return agreement.kappas(select_added.rows(cursor, dataset), weights)


@question(datasets=("dataset",), confined=False, shows="datasets")
def alpha(cursor: DuckDBPyConnection, dataset: str, level: str) -> DataFrame:
    """Return Krippendorff's alpha of all people in one row, from `agreement.alpha`."""
    return DataFrame([agreement.alpha(select_added.rows(cursor, dataset), level)])


@select(datasets=("dataset",))
def lengths(dataset: str, doc_ids: Sequence[str]) -> str:
    """Select doc_id and n_words of those documents whose words were counted."""
    return """
        select doc_id, any_value(n_words) as n_words from lengths
        where dataset = (select collection from datasets where name = $dataset)
          and doc_id in (select unnest($doc_ids))
        group by doc_id
    """


@select(datasets=("dataset",), confined=False)
def graded(dataset: str) -> str:
    """Select system (an LLM), query_id, doc_id and relevance of all LLM grades."""
    return "select system, query_id, doc_id, relevance from machine_grades where dataset = $dataset"


@question(datasets=("dataset",), confined=False, shows="datasets")
def machines(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Return a row for each LLM and each reference with shared pairs: machine, reference (official,
    or people here), and the fields of `agreement.with_machine`."""
    found = [
        {"machine": machine, "reference": name, **agreement.with_machine(people, graded)}
        for machine, name, people, graded in _beside_people(cursor, dataset)
    ]
    frame = DataFrame(found, columns=None if found else ["machine", "reference", "n_pairs"])
    return frame[frame["n_pairs"] > 0].reset_index(drop=True)


@question(datasets=("dataset",), confined=False, shows="datasets")
def confusions(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Return machine, reference, people, machine_grade, n_pairs, from `agreement.confusion`."""
    found = [
        agreement.confusion(people, graded)
        .rename(columns={"machine": "machine_grade"})
        .assign(machine=machine, reference=name)
        for machine, name, people, graded in _beside_people(cursor, dataset)
    ]
    columns = ["machine", "reference", "people", "machine_grade", "n_pairs"]
    frames: list[DataFrame] = [DataFrame(columns=columns), *found]
    return pd.concat(frames, ignore_index=True)[columns]


def _beside_people(
    cursor: DuckDBPyConnection, dataset: str
) -> Iterator[tuple[str, str, DataFrame, DataFrame]]:
    """Yield each LLM with each reference: their names, human grades, and the LLM's grades."""
    every = graded(cursor, dataset)
    if every.empty:
        return
    here = agreement.blind(select_added.rows(cursor, dataset))
    references = {"official": official(cursor, dataset), "people here": here}
    for machine, own in every.groupby("system"):
        for name, people in references.items():
            yield str(machine), name, people, own


@question(datasets=("dataset",), confined=False)
def disagreements(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Return pairs with different grades, also official ones, from `agreement.disagreements`."""
    rows = select_added.rows(cursor, dataset)
    of = official(cursor, dataset) if len(rows) else rows[["query_id", "doc_id", "relevance"]]
    return agreement.disagreements(agreement.beside_official(rows, of))

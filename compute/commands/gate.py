"""The gate command for continuous integration, and the anchor that it also compares with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from pandas import DataFrame, MultiIndex, Series

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.base.words import counted
from compute.commands import options
from compute.commands.common import done, scored_by
from compute.commands.opening import open_bench, open_whole
from compute.datasets import Dataset
from compute.evaluate.measures import Measure, parse
from compute.evaluate.non_inferiority import MARGIN, NIGHT, decide
from compute.evaluate.power import LARGEST
from compute.exports import verdicts
from compute.exports.verdicts import Report
from compute.intake import anchors, gate_runs
from compute.intake.gate_runs import Given
from compute.reading import database
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of
from compute.views.dataset import select_slices
from compute.views.shared import query_slices

BEST = "best"
Margin = Annotated[float, Parameter(converter=options.above_0, show_default=True)]


@dataclass(frozen=True)
class _Asked:
    """Runs to compare, and the tolerated loss."""

    baseline: str | None
    """None: the best of the candidate's earlier versions."""
    candidate: str
    datasets: Sequence[str]
    measure: Measure
    margin: float
    slices: Sequence[str]
    unanswered: str


def gate(
    *runs: Annotated[str, Parameter(required=True)],
    dataset: Annotated[
        tuple[str, ...],
        options.SEVERAL,
        Parameter(required=True, metavar="DATASET", help=options.EXAMPLES),
    ],
    against: Annotated[str, Parameter(metavar="RUN")] = "",
    measure: Annotated[str, Parameter(show_default=True)] = "nDCG@10",
    margin: Margin = 0.01,
    slice: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="KEY")] = (),
    unanswered: Annotated[Literal["refuse", "zero"], Parameter(show_default=True)] = "refuse",
    json: options.Json = False,
    markdown: bool = False,
    junit: Annotated[Path | None, options.OF_FILE] = None,
) -> int:
    """Test whether a candidate is worse than a baseline.

    Exit status 0: no worse, 3: worse, 4: too little evidence, 5: not comparable.

    Args:
        runs: baseline and candidate, each a stored system, a run file or a folder of run files
        against: the baseline, if only the candidate is given; best: the best of its system's
            earlier versions
        margin: largest tolerated loss in mean score
        slice: also decide for each query group of this key
        unanswered: if over 10% of the baseline's queries have no hits: not comparable, or score 0
        markdown: print a comment for a pull request
        junit: also write JUnit XML
    """
    if json and markdown:
        raise WrongInput("--json and --markdown both write to standard output: give one")
    for key in query_slices.BY_RESULTS.keys() & {*slice}:
        raise WrongInput(
            f"--slice {key} only describes results, since its groups are"
            f" {query_slices.BY_RESULTS[key]}: leave it out, or name another key"
        )
    _refuse_large(margin)
    two = (against, *runs) if against else runs
    if len(two) != 2:
        raise WrongInput("give a baseline and a candidate, or a candidate and --against BASELINE")
    names, base = tuple(dict.fromkeys(dataset)), None if against == BEST else two[0]
    asked = _Asked(base, two[1], names, parse(measure), margin, slice, unanswered)
    report = _decided(open_whole(), asked)
    if junit:
        verdicts.write(verdicts.junit(report), junit)
    if json:
        printable.say_text(verdicts.record(report))
    elif markdown:
        printable.say_text(verdicts.markdown(report))
    else:
        printable.show(verdicts.table(report), as_json=False)
        lines = [*verdicts.notes(report), verdicts.headline(report)]
        printable.say(*lines)
    return report.status


def _refuse_large(margin: float) -> None:
    if margin >= LARGEST:
        raise WrongInput(
            f"--margin {margin:g} lets everything pass, since measures range from 0 to 1: give a"
            " smaller one, such as .01 for a point of 100"
        )


def anchor(
    system: Annotated[str, Parameter(help="a stored system or version, such as ours@1")] = "",
    /,
    *,
    dataset: options.Dataset,
    margin: Margin = 0.03,
    remove: bool = False,
) -> int:
    """Mark a stored run as the anchor of a dataset: `gate` then also compares candidates with it.

    Without a system, print the anchor.

    Args:
        margin: largest tolerated sum of losses since the anchor
        remove: remove the anchor
    """
    _refuse_large(margin)
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    if system or remove:
        anchors.mark(bench.store, row, "" if remove else system, margin)
        done(bench)
    found = anchors.of(bench.store, row.name)
    since = f"{found[0]}: means may fall by {found[1]:g} since then" if found else "not marked"
    printable.say(f"the anchor of {row.name} is {since}")
    return 0


def _decided(bench: Bench, asked: _Asked) -> Report:
    groups, of, remarks = {}, list[str](), list[str]()
    for name in asked.datasets:
        row = dataset_of(bench.store, name)
        for against, found, told in _compared(bench, row, asked):
            since = ", since the anchor" if MARGIN in found else ""
            kept = kinds(bench, row, found, asked.slices) if asked.slices else {}
            kept = {f"{title}{since}": rows for title, rows in {name: found, **kept}.items()}
            of, remarks = of + [printable.printable(against)] * len(kept), remarks + told
            groups |= kept
    how = {"any_answered": asked.unanswered == "zero"}
    found = decide(groups, asked.margin, asked.measure.formula.better, **how).assign(against=of)
    anchored = Series([MARGIN in rows for rows in groups.values()])
    found["lost_since_anchor"] = (-found["difference"]).where(anchored)
    # File names may contain characters that a terminal or XML would interpret.
    told = [printable.printable(remark) for remark in dict.fromkeys(remarks)]
    candidate = printable.printable(asked.candidate)
    return Report(str(asked.measure), asked.margin, of[0], candidate, found, told)


def _compared(
    bench: Bench, row: Dataset, asked: _Asked
) -> Iterator[tuple[str, DataFrame, list[str]]]:
    """Yield the baseline, then the anchor if there is one: its name, the per-query differences
    (for the anchor with the column MARGIN), and remarks."""
    store, measure, alone = bench.store, asked.measure, len(asked.datasets) == 1
    candidate, anchor = gate_runs.given(store, asked.candidate), anchors.of(store, row.name)
    if asked.baseline is None:
        runs = gate_runs.earlier(store, row, candidate)
        more: dict[str, float] = {NIGHT: len(runs)}
        named = [(f"the best of {counted(len(runs), 'earlier version')}", runs, more)]
    else:
        named = [(asked.baseline, [gate_runs.given(store, asked.baseline)], {})]
    if anchor:
        since, margin = anchor
        named.append((f"the anchor {since}", [Given(since, None)], {MARGIN: margin}))
    for name, runs, more in named:
        for one in (*runs, candidate):
            if one.path is None and (lacking := scored_by(bench, str(measure), row.name, one.name)):
                raise Missing(lacking[0])
        found, told = gate_runs.with_all(bench, row, runs, candidate, measure, alone)
        yield name, found.assign(**more), told


def kinds(
    bench: Bench, row: Dataset, found: DataFrame, keys: Sequence[str]
) -> dict[str, DataFrame]:
    """Split the rows of `found` into query groups, by name. Raises Missing for an unknown key.

    Within a group every query counts the same, as on the pages; if parts had equal weight, a part's
    only query would count as much as all queries of another part.
    """
    opened, parts = database.open_version(bench.store), row.parts or (row.name,)
    try:
        _, keyed = select_slices.by_key(opened.cursor(), parts, keys)
    finally:
        opened.close()
    where = MultiIndex.from_frame(found[["part", "query_id"]])
    named = {}
    for key in dict.fromkeys(keys):
        of = keyed[key].reindex(where)
        for label in keyed[key].cat.categories:
            rows = found[(of == label).to_numpy()]
            if len(rows):
                title = f"{row.name}, {query_slices.TITLES.get(key, key)}: {label}"
                named[title] = rows.assign(part=row.name)
    return named

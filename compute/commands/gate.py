"""The gate command for continuous integration: is a candidate worse than a baseline?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from pandas import DataFrame, MultiIndex

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands import options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.datasets import Dataset
from compute.datasets import dataset as dataset_of
from compute.evaluate.measures import parse
from compute.evaluate.non_inferiority import decide
from compute.evaluate.power import LARGEST
from compute.exports import verdicts
from compute.exports.verdicts import Report
from compute.intake import gate_runs
from compute.reading import database
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.dataset import select_slices
from compute.views.shared import query_slices

Compared = Annotated[str, Parameter(help="a stored system, a run file or a folder of run files")]


@dataclass(frozen=True)
class _Asked:
    """Runs to compare, and the tolerated loss."""

    runs: tuple[str, str]
    datasets: Sequence[str]
    measure: str
    margin: float
    slices: Sequence[str]
    unanswered: str


def gate(
    baseline: Compared,
    candidate: Compared,
    /,
    *,
    dataset: Annotated[
        tuple[str, ...],
        options.SEVERAL,
        Parameter(required=True, metavar="DATASET", help=options.EXAMPLES),
    ],
    measure: Annotated[str, Parameter(show_default=True)] = "nDCG@10",
    margin: Annotated[float, Parameter(converter=options.above_0, show_default=True)] = 0.01,
    slice: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="KEY")] = (),
    unanswered: Annotated[Literal["refuse", "zero"], Parameter(show_default=True)] = "refuse",
    json: options.Json = False,
    markdown: bool = False,
    junit: Annotated[Path | None, options.OF_FILE] = None,
) -> int:
    """Test whether a candidate is worse than a baseline.

    Exit status 0: not worse, 3: worse, 4: undecided, 5: not comparable.

    Args:
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
    if margin >= LARGEST:
        raise WrongInput(
            f"--margin {margin:g} lets everything pass, since measures range from 0 to 1: give a"
            " smaller one, such as .01 for a point of 100"
        )
    asked = _Asked((baseline, candidate), dataset, measure, margin, slice, unanswered)
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


def _decided(bench: Bench, asked: _Asked) -> Report:
    measure, own = parse(asked.measure), own_datasets(bench.store)
    rows = [dataset_of(name, own) for name in dict.fromkeys(asked.datasets)]
    two = [gate_runs.given(bench.store, word) for word in asked.runs]
    groups, remarks = {}, list[str]()
    for row in rows:
        for one in two:
            if one.path is None and (lacking := scored_by(bench, str(measure), row.name, one.name)):
                raise Missing(lacking[0])
        found, told = gate_runs.compared(bench, row, two, measure, alone=len(rows) == 1)
        groups[row.name] = found
        groups |= kinds(bench, row, found, asked.slices) if asked.slices else {}
        remarks += told
    how = {"any_answered": asked.unanswered == "zero"}
    found = decide(groups, asked.margin, measure.formula.better, **how)
    # File names may contain characters that a terminal or XML would interpret.
    baseline, candidate = (printable.printable(one.name) for one in two)
    told = [printable.printable(remark) for remark in remarks]
    return Report(str(measure), asked.margin, baseline, candidate, found, told)


def kinds(
    bench: Bench, row: Dataset, found: DataFrame, keys: Sequence[str]
) -> dict[str, DataFrame]:
    """The rows of each query group, by its name. Raises Missing for an unknown key.

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

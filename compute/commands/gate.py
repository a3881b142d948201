"""The command for continuous integration: is a candidate no worse than a baseline?"""

from argparse import Namespace
from collections.abc import Sequence

from pandas import DataFrame, MultiIndex

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.datasets import Dataset, dataset
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


def gate(arguments: Namespace) -> int:
    """Decide, and print or write it; the exit status is `verdicts.STATUS`."""
    if arguments.json and arguments.markdown:
        raise WrongInput("--json and --markdown both go to the output: give one of them")
    if query_slices.ANSWERED in (arguments.slice or ()):
        raise WrongInput(
            f"--slice {query_slices.ANSWERED} is made from the scores themselves and only describes"
            " them: leave it out, or name another key"
        )
    if arguments.margin >= LARGEST:
        raise WrongInput(
            f"--margin {arguments.margin:g} lets all pass, for measures lie between 0 and 1: give a"
            " smaller one, such as .01 for a point of 100"
        )
    report = _decided(open_whole(), arguments)
    if arguments.junit:
        verdicts.write(verdicts.junit(report), arguments.junit)
    if arguments.json:
        printable.say_text(verdicts.record(report))
    elif arguments.markdown:
        printable.say_text(verdicts.markdown(report))
    else:
        printable.show(verdicts.table(report), as_json=False)
        lines = [*verdicts.notes(report), verdicts.headline(report)]
        printable.say(*lines)
    return report.status


def _decided(bench: Bench, arguments: Namespace) -> Report:
    measure, own = parse(arguments.measure), own_datasets(bench.store)
    rows = [dataset(name, own) for name in dict.fromkeys(arguments.dataset)]
    two = [gate_runs.given(bench.store, word) for word in (arguments.baseline, arguments.candidate)]
    groups, remarks = {}, list[str]()
    for row in rows:
        for one in two:
            if one.path is None and (lacking := scored_by(bench, str(measure), row.name, one.name)):
                raise Missing(lacking[0])
        found, told = gate_runs.compared(bench, row, two, measure, alone=len(rows) == 1)
        groups[row.name] = found
        groups |= kinds(bench, row, found, arguments.slice) if arguments.slice else {}
        remarks += told
    how = {"any_answered": arguments.unanswered == "zero"}
    found = decide(groups, arguments.margin, measure.formula.better, **how)
    # A terminal and XML would obey what names of files may hold.
    baseline, candidate = (printable.printable(one.name) for one in two)
    told = [printable.printable(remark) for remark in remarks]
    return Report(str(measure), arguments.margin, baseline, candidate, found, told)


def kinds(
    bench: Bench, row: Dataset, found: DataFrame, keys: Sequence[str]
) -> dict[str, DataFrame]:
    """The rows of each kind of query, by what it is called. Raises Missing for an unknown key.

    In a kind every query counts the same, of whichever part, as on the pages: one query, alone in
    its part, would be half of what two parts say.
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

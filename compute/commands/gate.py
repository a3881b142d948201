"""The command for continuous integration: is a candidate no worse than a baseline?"""

import sys
from argparse import Namespace

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands.bench import open_bench
from compute.commands.common import scored_by
from compute.datasets import dataset
from compute.evaluate.measures import parse
from compute.evaluate.non_inferiority import decide
from compute.evaluate.power import LARGEST
from compute.exports import verdicts
from compute.exports.verdicts import Report
from compute.intake import given_runs
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets


def gate(arguments: Namespace) -> int:
    """Decide, and print or write it; the exit status is `verdicts.STATUS`."""
    if arguments.json and arguments.markdown:
        raise WrongInput("--json and --markdown both go to the output: give one of them")
    if arguments.margin >= LARGEST:
        raise WrongInput(
            f"--margin {arguments.margin:g} lets all pass, for measures lie between 0 and 1: give a"
            " smaller one, such as .01 for a point of 100"
        )
    report = _decided(open_bench(), arguments)
    if arguments.junit:
        verdicts.write(verdicts.junit(report), arguments.junit)
    if arguments.json:
        sys.stdout.write(verdicts.record(report))
    elif arguments.markdown:
        sys.stdout.write(verdicts.markdown(report))
    else:
        printable.show(verdicts.table(report), as_json=False)
        lines = [*verdicts.notes(report), verdicts.headline(report)]
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return report.status


def _decided(bench: Bench, arguments: Namespace) -> Report:
    measure, own = parse(arguments.measure), own_datasets(bench.store)
    rows = [dataset(name, own) for name in dict.fromkeys(arguments.dataset)]
    two = [
        given_runs.given(bench.store, word) for word in (arguments.baseline, arguments.candidate)
    ]
    groups, remarks = {}, list[str]()
    for row in rows:
        for one in two:
            if one.path is None and (lacking := scored_by(bench, str(measure), row.name, one.name)):
                raise Missing(lacking[0])
        found, told = given_runs.compared(bench, row, two, measure, alone=len(rows) == 1)
        groups[row.name] = found
        remarks += told
    found = decide(groups, arguments.margin, measure.formula.better)
    # A terminal and XML would obey what names of files may hold.
    baseline, candidate = (printable.printable(one.name) for one in two)
    told = [printable.printable(remark) for remark in remarks]
    return Report(str(measure), arguments.margin, baseline, candidate, found, told)

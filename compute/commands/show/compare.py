"""The compare command, which compares two systems on a dataset."""

from typing import Annotated, Any

from cyclopts import Parameter
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing
from compute.commands import groups, options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.commands.show.stored import cursor_of, name_the_wrong, refuse_unjudged
from compute.evaluate.significance import BY_FAMILY
from compute.store.own_datasets import dataset_of
from compute.views.compare import differences, judging, select, tables
from compute.views.shared import catalogue

Compared = Annotated[str, Parameter(help="a stored system, or one of its versions")]


def compare(
    a: Compared,
    b: Compared,
    /,
    *,
    dataset: options.Dataset,
    measure: Annotated[str, Parameter(show_default=True)] = "nDCG@10",
    same_spread: bool = False,
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Compare two systems on a dataset: difference, 95% CI, p, and queries won and lost.

    If a sampled task of the two systems is the only source of judgements, print its verdict.

    Args:
        same_spread: for a system with one run, use the run-to-run variance of the other system
    """
    bench, two = open_whole(), {"a": a, "b": b}
    row = dataset_of(bench.store, dataset)
    if sampled := judging.of_pair(bench.store, row.name, (a, b), judged.choice()):
        record = {"dataset": row.name, "measure": judging.MEASURE, **two, **sampled._asdict()}
        answer = record.pop("verdict")
        return _show(record, answer, json)
    lacking = [line for name in (a, b) for line in scored_by(bench, measure, row.name, name)]
    asked: Any = two | {"datasets": row.parts or (row.name,), "measure": measure}
    with cursor_of(bench, judged, row.name, two.values()) as cursor:
        runs = catalogue.runs(cursor)
        for name in two.values():
            name_the_wrong(runs[runs["dataset"] == row.name], {"system": name})
        verdict = differences.verdict(select.pairs(cursor, **asked), measure)
        found = select.tested(cursor, **asked, same_spread=same_spread)
        records = found.to_dict("records")
        weighted = select.weighted(cursor, **asked, same_spread=same_spread)
        tested: dict[Any, Any] = next(iter(records), {})
        if not verdict.n:
            refuse_unjudged(cursor, row.name)
    if not verdict.n:
        raise Missing(lacking[0] if lacking else f"no query has a {measure} for both systems")
    means = {"mean_a": verdict.mean_a, "mean_b": verdict.mean_b}
    shown = {name: of for name, of in tested.items() if tested["families"] or name not in BY_FAMILY}
    found = {"dataset": row.name, "measure": measure, **two, **means, **shown}
    found |= {f"weighted_{name}": of for name in weighted for of in weighted[name].tolist()}
    answer = tables.answer(verdict, tested, (a, b), measure)
    more = tables.weighted(weighted, (a, b), measure)
    return _show(found, f"{answer} {more}".rstrip(), json)


def _show(found: dict[Any, Any], answer: str, json: bool) -> int:
    """Print a comparison as a row and a sentence."""
    row = found | ({"verdict": answer} if json else {})
    printable.show(DataFrame([row]), json)
    printable.say(*([] if json else [answer]))
    return 0

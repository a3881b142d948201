"""The estimates command, which prints scores estimated from a sampled task."""

from json import dumps, loads
from typing import Annotated

from cyclopts import Parameter
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands import groups, options
from compute.commands.opening import open_whole
from compute.commands.show.stored import tell_stale
from compute.judgements import sampling, sets
from compute.judgements.tasks import estimated, samples, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.reading import database, judgement_sets
from compute.store import integrity
from compute.store.loading import Bench
from compute.views.holes import audits, sampled, three_ways
from compute.views.holes.estimates_page import Sample
from compute.views.page.store_ask import opened


def estimates(
    *,
    task: str = "",
    measure: str = "",
    pairs: bool = False,
    machine: Annotated[str, Parameter(metavar="NAME")] = "",
    half_width: options.Difference = None,
    counted: groups.Counted = groups.Counted(),
    json: options.Json = False,
) -> int:
    """Print the scores of systems, or differences of pairs, estimated from a sampled task.

    For an audit, print how many labels the assessors graded differently and whether the ranking
    survives. Added judgements always count.

    Args:
        task: id of the sampled task or the audit
        measure: measure to estimate (default: the task's)
        pairs: print the difference between each pair of systems
        machine: also estimate from this LLM's grades, alone and as a predictor
        half_width: print the number of judgements needed for this CI half-width
    """
    if not task:
        raise WrongInput("estimates needs a sampled task: give its id with --task")
    bench = open_whole()
    drawn = tasks.task(bench.store, task)
    samples.stored(bench.store, drawn.id)
    tell_stale(bench, drawn.dataset)
    printable.warn(*integrity.of_judgements(bench.store.engine))
    measure = measure or drawn.measure
    with opened(bench.store, choice=counted.choice()) as ask:
        if drawn.goal == sampling.AUDIT:
            if pairs or machine or half_width:
                told = f"{task} is an audit, whose pairs are always printed"
                raise WrongInput(f"{told}: leave out --pairs, --machine and --half-width")
            return _audit(audits.outcome(ask, drawn, measure), json)
        sample = Sample.of(ask, drawn, measure)
        found = sample.estimated()
        if machine:
            rows = _three_ways(bench, sample, found, machine, pairs=pairs)
        elif pairs:
            rows = sampled.pairs(found)
        else:
            rows = sampled.systems(sample.bounds(), found)
    about = sampled.provenance(drawn, found) | sampled.stopped(found)
    if half_width:
        about |= {"half_width": half_width, "judgements_more": found.more(drawn, half_width)}
    rows.insert(0, "dataset", drawn.dataset)
    rows.insert(1, "measure", measure)
    return printable.show(rows.assign(**about), json)


def _audit(found: audits.Outcome, json: bool) -> int:
    """Print an audit's error rates, the ranks of systems, and the probabilities of rank swaps."""
    frames = {"rates": found.rates, "systems": found.systems, "pairs": found.pairs}
    if json:
        told = {name: loads(frame.to_json(orient="records")) for name, frame in frames.items()}
        about = {"measure": found.measure, "n_waiting": found.n_waiting, "verdict": found.verdict}
        printable.say_text(dumps(about | told, ensure_ascii=False, indent=1))
        return 0
    printable.say(found.verdict)
    for frame in frames.values():
        if len(frame):
            printable.show(frame, False)
    return 0


def _three_ways(
    bench: Bench, sample: Sample, found: Estimated, name: str, *, pairs: bool
) -> DataFrame:
    """Return each system's estimates by people, by an LLM and by both; with `pairs`, instead the
    pairs of systems that differ significantly only by the LLM."""
    cursor = database.open_version(bench.store).cursor()
    grades = judgement_sets.labels(cursor, sample.task.dataset, sets.of_machine(name))
    both = sample.estimated(grades)
    asked = sample.task, sample.frame, sample.judged(), sample.measure
    alone = estimated.by_machine(*asked, grades)
    if pairs:
        rows = three_ways.by_machine_alone(alone, both.estimates)
        return rows.assign(enough=both.estimates.enough)
    bounds = sample.bounds()
    ways = (sampled.systems(bounds, one) for one in (found, both))
    return three_ways.systems(next(ways), alone, next(ways))

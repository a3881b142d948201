"""The outcome of an audit: how often assessors' grades differ from the labels, and the labels from
which the ranking's stability is simulated."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.evaluate.estimates import label_errors
from compute.evaluate.estimates.frames import PAIR, Counts, Frame
from compute.evaluate.estimates.label_order import Audited
from compute.judgements import ADJUDICATION, IN_VIEW, Choice, resolve
from compute.judgements.tasks import auditing, estimated, samples
from compute.judgements.tasks.grades import Grades
from compute.judgements.tasks.samples import Drawn
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit so far."""

    looked: DataFrame
    """The audited pairs before the first pending one: query_id, doc_id, label, second (grade; NaN
    if skipped), settled (grade; NaN if not settled), group."""
    groups: DataFrame
    """label (official grade) and size (number of pairs) of each group: the pairs of one grade with
    the same inclusion probability."""
    n_keys: int
    """Number of the task's documents that count so far, with or without an official judgement."""
    n_waiting: int
    keys: int
    """Number of officially judged pairs in the whole task."""
    sample: Drawn
    grades: Grades

    def rates(self) -> DataFrame:
        """Return a row for each grade, and one for all relevant labels if they have several grades.
        Columns: labels, n_labels, n_audited, n_skipped, n_differ; rate, low and high (share of
        labels graded differently, or of relevant ones graded as not relevant, with its 95%
        interval); n_settled, n_wrong, wrong_low and wrong_high (95% interval of the share of labels
        that adjudications show to be wrong; nan before any)."""
        label, names = self.groups["label"], dict(self.grades)
        rows = [
            {
                "labels": f"{grade:g} {names.get(int(grade), '')}".strip(),
                **self._row(label == grade),
            }
            for grade in sorted(label.unique())
        ]
        if label[label > 0].nunique() > 1:
            rows.append({"labels": "all relevant", **self._row(label > 0, crossing=True)})
        return DataFrame(rows)

    def _row(self, among: pd.Series, *, crossing: bool = False) -> dict[str, object]:
        """Return the row for the groups in the mask `among`; with `crossing`, only non-relevant
        grades count as different."""
        groups = np.flatnonzero(among)
        own = self.looked[self.looked["group"].isin(groups)]
        place = np.searchsorted(groups, own["group"])

        def counted(some: pd.Series) -> Counts:
            return np.bincount(place[some.to_numpy()], minlength=len(groups))

        def other(given: pd.Series) -> pd.Series:
            return given.notna() & ((given <= 0) if crossing else (given != own["label"]))

        sizes, n = self.groups["size"].to_numpy()[groups], counted(own["label"].notna())
        skipped, differ = own["second"].isna(), other(own["second"])
        settled, wrong = own["settled"].notna(), other(own["settled"])
        low, high = label_errors.interval(sizes, n, counted(differ), counted(differ | skipped))
        most = counted(wrong | (~settled & (differ | skipped)))
        known = settled.any() or not differ.any()
        least, largest = label_errors.interval(sizes, n, counted(wrong), most)
        return {
            "n_labels": int(sizes.sum()),
            "n_audited": len(own),
            "n_skipped": int(skipped.sum()),
            "n_differ": int(differ.sum()),
            "rate": label_errors.estimate(sizes, counted(~skipped), counted(differ)),
            "low": low,
            "high": high,
            "n_settled": int((settled & differ).sum()),
            "n_wrong": int(wrong.sum()),
            "wrong_low": least if known else np.nan,
            "wrong_high": largest if known else np.nan,
        }

    def order(
        self, frame: Frame, labels: DataFrame, machine: DataFrame | None = None
    ) -> Audited | None:
        """Return the labels of the frame with the audit's grades; None if runs or labels have
        changed since the draw."""
        plan = auditing.strata(frame, labels, self.keys, machine)
        chances = plan.chances[frame.rows(self.sample.pairs)]
        same = (chances == 0) | np.isclose(chances, self.sample.pairs["size"])
        if self.sample.frame != frame.identity or not same.all():
            return None
        second = np.full(frame.n, np.nan)
        truth = self.looked["settled"].fillna(self.looked["second"])
        second[frame.rows(self.looked)] = truth.to_numpy(np.float64)
        numbers = tuple(grade for grade, _ in self.grades)
        return Audited(frame, plan.labels, second, plan.stratum, labels, numbers)


def audit(store: Store, task: Task, labels: DataFrame, rows: DataFrame, choice: Choice) -> Audit:
    """Return the outcome of a task's audit from official judgements (query_id, doc_id, relevance)
    and the rows of added ones. Blind grades count according to `choice`, in the order of the task
    up to the first pending document; adjudications show which labels are wrong."""
    (sample,) = samples.stored(store, task.id)
    people = tuple(source for source in choice.sources if source != ADJUDICATION)
    second = resolve(rows[rows["task"] != IN_VIEW], Choice(choice.rule, people))
    settled = resolve(rows, Choice(choice.rule, (ADJUDICATION,)))
    n = estimated.counted([sample], second, estimated.answers_of(store, task))[-1]
    return of(sample, n, labels, second, settled, task.grades)


def of(
    sample: Drawn,
    n: int,
    labels: DataFrame,
    second: DataFrame,
    settled: DataFrame,
    grades: Grades,
) -> Audit:
    """Return the outcome from frames of labels, second grades of the first n pairs, and settled
    grades, each with query_id, doc_id and relevance."""
    given = labels[PAIR].assign(label=labels["relevance"].clip(lower=0).astype(np.float64))
    drawn = sample.pairs.assign(place=range(len(sample.pairs))).merge(given, on=PAIR)
    drawn["group"] = drawn.groupby(["label", "size"]).ngroup()
    of_group = drawn.groupby("group")
    groups = DataFrame({"label": of_group["label"].first()})
    groups["size"] = (of_group.size() / of_group["size"].first()).round().astype(np.int64)
    looked = drawn[drawn["place"] < n]
    for name, found in (("second", second), ("settled", settled)):
        found = found[PAIR].assign(**{name: found["relevance"].clip(lower=0).astype(np.float64)})
        looked = looked.merge(found, on=PAIR, how="left")
    columns = [*PAIR, "label", "second", "settled", "group"]
    left = len(sample.pairs) - n
    return Audit(looked[columns], groups, n, left, len(drawn), sample, grades)

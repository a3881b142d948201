"""Whether the holes could turn the order of two systems.

Asked of the difference of their scores, with a hole that both retrieved judged once for both:
two intervals that overlap say nothing, for what lifts one system may lift the other as much.
"""

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.holes.bounds import largest, least, ratio
from compute.holes.lists import Gain, Lists, Values, measured

FIRST, SECOND, OPEN, EQUAL = "first", "second", "open", "equal"
"""The first, or second, system is ahead whatever the holes are; the holes could turn the order,
or level it; the systems are level whatever the holes are."""
_ROUNDING = 1e-12


def pairs(lists: Lists, measure: str) -> DataFrame:
    """Every pair of systems: first, second, difference (mean over the queries of first minus
    second), low and high over every way of judging the holes of both top k, verdict.

    Holes belong to one query, so the extremes of the queries add up. Raises WrongInput as
    `measured`.
    """
    seen, gain = measured(lists, measure)
    rows = [_against_later(seen, gain, place) for place in range(len(seen.systems) - 1)]
    columns = ["first", "second", "difference", "low", "high"]
    frame = pd.concat([DataFrame(columns=columns), *rows]) if not rows else pd.concat(rows)
    return frame.assign(verdict=_verdicts(frame)).reset_index(drop=True)


def _verdicts(frame: DataFrame) -> list[str]:
    low, high = frame["low"].to_numpy(np.float64), frame["high"].to_numpy(np.float64)
    level = (np.abs(low) <= _ROUNDING) & (np.abs(high) <= _ROUNDING)
    conditions = [level, low > _ROUNDING, high < -_ROUNDING]
    return np.select(conditions, [EQUAL, FIRST, SECOND], OPEN).tolist()


def _against_later(lists: Lists, gain: Gain, first: int) -> DataFrame:
    """A system against all that come after it."""
    others = range(first + 1, len(lists.systems))
    discount = gain.discount(lists.depth)
    gains = lists.gain.clip(0) @ discount
    fixed = gains[first] - gains[first + 1 :]
    weights = np.stack([_weights(lists, first, other, discount) for other in others])
    judged = np.tile(lists.judged, (len(others), 1))
    reach = gain.reach(lists.depth, int(judged.max(initial=0)) + weights.shape[2])
    rows = (fixed.ravel(), weights.reshape(len(judged), -1), judged, lists.steps, reach)

    def means(values: Values) -> Values:
        return values.reshape(len(others), -1).mean(axis=1)

    return DataFrame(
        {
            "first": lists.systems[first],
            "second": [lists.systems[other] for other in others],
            "difference": means(ratio(rows[0], reach[judged] @ lists.steps)),
            "low": means(least(*rows)),
            "high": means(largest(*rows)),
        }
    )


def _weights(lists: Lists, first: int, second: int, discount: Values) -> Values:
    """(Q, 2k) What each hole of either list adds to the difference; nan where there is none."""
    one, other = lists.document[first], lists.document[second]
    shared = (one[:, :, None] == other[:, None, :]) & (one >= 0)[:, :, None]
    own = np.where(lists.holes[first], discount - shared @ discount, np.nan)
    alone = lists.holes[second] & ~shared.any(axis=1)
    return np.concatenate([own, np.where(alone, -discount, np.nan)], axis=1)

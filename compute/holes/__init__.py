"""How much of the ranked lists nobody judged, and what a score can be all the same.

`lists` holds top ranks against judgements, as arrays; `definitions` counts holes and scores lists
with holes left out or expected; `bounds` gives the interval of a score over every way of judging
the holes; `turning` asks whether the holes could turn the order of two systems. Pure functions:
frames `top` (system, query_id, doc_id, rank) and `judgements` (query_id, doc_id, relevance) in,
or the same as Arrow tables.
"""

from compute.holes.bounds import intervals
from compute.holes.definitions import (
    FEWEST_ADDED,
    by_rank,
    condensed,
    expected,
    hole,
    hole_beir,
    rates,
    tells_more,
)
from compute.holes.lists import GAINS, JUDGED, TOP, Lists, arrange, arranged
from compute.holes.turning import pairs

__all__ = [
    "FEWEST_ADDED",
    "GAINS",
    "JUDGED",
    "TOP",
    "Lists",
    "arrange",
    "arranged",
    "by_rank",
    "condensed",
    "expected",
    "hole",
    "hole_beir",
    "intervals",
    "pairs",
    "rates",
    "tells_more",
]

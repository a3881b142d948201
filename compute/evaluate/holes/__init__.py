"""Counts unjudged documents (holes) in ranked lists, and bounds the scores that they leave
possible.

`definitions` counts holes, and scores lists without their holes or with expected gains for them;
`bounds` computes three ranges of a score, over the holes of its own list, of the pool, and of the
collection; `order_flips` determines whether the order of two systems could flip in each range. All
are pure functions of the frames `top` (system, query_id, doc_id, rank) and `judgements` (query_id,
doc_id, relevance), or of Arrow tables with the same columns.
"""

from compute.evaluate.holes.bounds import (
    COLLECTION,
    GAINS,
    NOTHING,
    POOL,
    Outside,
    by_kind,
    formula,
    means,
)
from compute.evaluate.holes.definitions import (
    FEWEST_ADDED,
    by_rank,
    condensed,
    expected,
    hole,
    hole_beir,
    hole_by_query,
    is_expected,
    rates,
    tells_more,
)
from compute.evaluate.holes.order_flips import by_query, pairs
from compute.evaluate.top_lists import JUDGED, TOP, Lists, arrange, arranged

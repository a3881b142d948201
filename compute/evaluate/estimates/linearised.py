"""Measures as sums over a frame: exact for P, DCG and RBP, first-order for ratios."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from compute.base.errors import WrongInput
from compute.evaluate import measures
from compute.evaluate.estimates.frames import Counts, Frame, Values

ESTIMATED = ("P", "DCG", "RBP", "nDCG", "R", "AP")
RATIOS = ("nDCG", "R", "AP")
"""Ratios, whose ideal or number of relevant documents includes the frame and other judged
documents."""
_OWN = np.linspace(0, 1, 21)


@dataclass(frozen=True)
class Kind:
    """Properties of a measure that an estimate needs."""

    name: str
    k: int
    discount: Values
    """(k,) Value of a gain of 1 at each rank; only for AP does it depend on the ranks above."""
    graded: bool
    least: float

    @property
    def is_ratio(self) -> bool:
        return self.name in RATIOS

    def gains(self, steps: Values, levels: Values) -> Values:
        """(L,) Gain added by reaching each level."""
        if self.graded:
            return steps
        return (np.arange(len(levels)) == np.searchsorted(levels, self.least)).astype(np.float64)


def kind(measure: str) -> Kind:
    """Properties of a measure. Raises WrongInput for a measure that cannot be estimated."""
    name = measure.partition("@")[0].partition("(")[0]
    if name not in ESTIMATED:
        raise WrongInput(f"{measure} cannot be estimated: choose one of {', '.join(ESTIMATED)}")
    parsed = measures.parse(f"n{measure}" if name == "DCG" else measure)
    k = parsed.k
    if parsed.dcg is not None:
        raise WrongInput(f"{measure} cannot be estimated: choose nDCG with linear gain, {name}@{k}")
    if k is None:
        raise WrongInput(f"{measure} cannot be estimated: give its cut-off, such as {name}@10")
    ranks = np.arange(1.0, k + 1)
    discount: dict[str, Values] = {
        "P": np.full(k, 1 / k),
        "RBP": (1 - (parsed.p or 0.0)) * (parsed.p or 0.0) ** (ranks - 1),
        "R": np.ones(k),
        "AP": 1 / ranks,
    }
    graded = name == "DCG" or (name in ("nDCG", "RBP") and parsed.rel is None)
    return Kind(name, k, discount.get(name, 1 / np.log2(ranks + 1)), graded, parsed.rel or 1)


def ends(frame: Frame, of: Kind, grades: Values, levels: Values) -> tuple[Values, Values]:
    """(S,) Least and largest possible means of a sum (P, DCG, RBP), by grades (N,) (NaN: not
    judged), from `levels`, the ascending grades that can be given.

    The minimum is today's score, which counts unjudged documents as not relevant.
    """
    if of.is_ratio:
        raise WrongInput(f"{of.name} is not a sum: `evaluate.holes` computes its range")
    steps = np.diff(levels, prepend=0.0)
    reached = [
        (np.nan_to_num(grades, nan=unjudged)[:, None] >= levels).astype(np.float64)
        for unjudged in (0.0, float(levels[-1]))
    ]
    low, high = (linear(frame, of, each, steps, levels).values.mean(axis=1) for each in reached)
    return low, high


@dataclass(frozen=True)
class Linear:
    """A measure near some shares (N, L): its value by query, and the contribution of each pair."""

    values: Values
    """(S, Q)"""
    slopes: Values
    """(S, Q, k, L) Increase of the value when the pair at a rank reaches a level."""
    falls: Values
    """(2, S, Q, L) Decrease of the value when some pair at any rank reaches a level, for a pair
    that is not counted yet and for one that is."""
    shares: Values
    """(N, L)"""

    def at(self, frame: Frame, rows: Counts) -> Values:
        """(n, S, L) Contribution of each row to a query's value when it reaches a level."""
        rank, query = frame.rank[rows], frame.query[rows, None]
        inside = (rank > 0) & (rank <= self.slopes.shape[2])
        systems = np.arange(len(self.slopes))
        own = self.slopes[systems, query, np.where(inside, rank, 1) - 1]
        own = np.where(inside[:, :, None], own, 0.0)
        if not self.falls.any():
            return own
        share, (absent, present) = self.shares[rows, None], self.falls[:, systems, query]
        return own - (1 - share) * absent - share * present

    def moved(self, frame: Frame, change: Values) -> Values:
        """(S, Q) The values after a change (N, L) of the shares."""
        added = _ranked(frame, change, self.slopes.shape[2])
        found = self.values + np.einsum("sqkl,sqkl->sq", self.slopes, added)
        if self.falls.any():
            absent = _counted(frame, (1 - self.shares) * change)
            both = np.stack([absent, _counted(frame, change) - absent])
            found -= np.einsum("psql,pql->sq", self.falls, both)
        return found


def linear(
    frame: Frame,
    of: Kind,
    shares: Values,
    steps: Values,
    levels: Values,
    together: float = 0.0,
    outside: Values | None = None,
) -> Linear:
    """The measure near shares (N, L), the probabilities that each pair reaches each level. Its
    value is the expectation if pairs reach levels with these probabilities; slopes are the
    differences that one pair makes, so a ratio does not need precise numbers of relevant documents
    per query. Given a relevant pair, others are relevant with 1 + `together` times their
    probabilities; a share of 0 or 1 is certain. `outside` (Q, L): judged pairs outside the frame,
    by the levels that they reach (`Frame.outside`; default: none), which count in a ratio's ideal
    order."""
    gains, share = of.gains(steps, levels), _ranked(frame, shares, of.k)
    worth = np.broadcast_to(of.discount[:, None] * gains, share.shape)
    if not of.is_ratio:
        falls = np.zeros((2, *share.shape[:2], len(steps)))
        return Linear((worth * share).sum(axis=(2, 3)), worth, falls, shares)
    outside = np.zeros((len(frame.queries), len(steps))) if outside is None else outside
    inverse = _Inverse.of(frame, of, shares, gains, 1 + together, outside)
    given, each = inverse.given(share), worth * share
    if of.name == "AP":
        others = np.where(share < 1, (1 + together) * share, 1)
        worth = (1 + np.cumsum(others, axis=2) - others) * worth
    terms = worth * share
    slopes = worth * given.value - terms * given.change(share)
    if of.name == "AP":
        slopes = slopes + (1 + together) * _below(each, given, share)
    values = (terms * given.value).sum(axis=(2, 3))
    return Linear(values, slopes, inverse.falls(terms, share), shares)


@dataclass(frozen=True)
class _Given:
    """(S, Q, k, L) Expected inverse if the pair reaches the level."""

    value: Values
    absent: Values
    """Change of the denominator with one more uncounted pair, and with one more counted pair."""
    present: Values

    def change(self, share: Values) -> Values:
        """Change with another pair, of which this share was counted."""
        return share * self.present + (1 - share) * self.absent


def _below(each: Values, given: _Given, share: Values) -> Values:
    """(S, Q, k, L) Contribution of a pair to average precision at relevant documents below it."""

    def total(found: Values) -> Values:
        return np.cumsum(found[:, :, ::-1], axis=2)[:, :, ::-1] - found

    value, absent, present = (
        total(each * one) for one in (given.value, given.absent, given.present)
    )
    # The decreases also include this contribution, so it is subtracted.
    return value + (1 - share) * absent - share * (share * present + (1 - share) * absent)


def _ranked(frame: Frame, shares: Values, k: int) -> Values:
    """(S, Q, k, L) The shares (N, L) of the document at each rank; 0 for empty ranks."""
    padded = np.concatenate([shares, np.zeros((1, shares.shape[1]))])
    return padded[frame.places[:, :, :k]]


def _counted(frame: Frame, shares: Values) -> Values:
    """(Q, L) Shares summed by query."""
    columns = [np.bincount(frame.query, column, len(frame.queries)) for column in shares.T]
    return np.column_stack(columns).astype(np.float64)


@dataclass(frozen=True)
class _Inverse:
    """1 over the ideal value of each query, as expected from the other pairs. Within a query the
    levels move together. Tables are by query and by the pair's own share (0 to 1 in G steps), which
    is removed from the numbers."""

    value: Values
    """(L, Q, G) Value if the pair itself reaches this level and the lower ones."""
    absent: Values
    """(L, Q, G) Change of the value for a relevant pair with another uncounted pair."""
    present: Values
    """(L, Q, G) The same with another pair that was counted."""

    @classmethod
    def of(
        cls, frame: Frame, of: Kind, shares: Values, gains: Values, beside: float, outside: Values
    ) -> "_Inverse":
        others = np.where(shares < 1, beside * shares, 1)
        mean = _counted(frame, others) + outside
        squares = _counted(frame, others**2) + outside
        own = np.where(_OWN < 1, beside * _OWN, 1)
        variance = mean - squares
        along = np.divide(
            variance, variance[:, :1], out=np.zeros_like(variance), where=variance > 0
        )
        number, chance = _numbers(mean[:, :1] - own, squares[:, :1] - own**2)
        spread = (number - (mean[:, :1] - own)[:, :, None])[..., None] * along[:, None, None]

        def expected(levels: Values, more: Values) -> Values:
            """(Q, G) The pair's own share removed from some levels, with some pairs more."""
            counts = mean[:, None] - own[:, None] * levels + more
            return (chance / _best(of, counts[:, :, None] + spread, gains)).sum(axis=2)

        below, each = np.tri(len(gains)), np.eye(len(gains))
        now = expected(each[0], each[0])
        return cls(
            np.array([expected(row, row) for row in below]),
            beside * np.array([expected(each[0], each[0] + row) - now for row in each]),
            beside * np.array([now - expected(each[0], each[0] - row) for row in each]),
        )

    def given(self, share: Values) -> _Given:
        """Ideal values for pairs with a counted share (S, Q, k, L)."""
        tables = (self.value, self.absent, self.present)
        levels = range(share.shape[3])
        found = [
            np.stack([_read(table[level], share[..., level]) for level in levels], axis=3)
            for table in tables
        ]
        return _Given(*found)

    def falls(self, terms: Values, share: Values) -> Values:
        """See `Linear`: terms (S, Q, k, L), each times its inverse."""
        found = [
            [(terms * _read(table, share)).sum(axis=(2, 3)) for table in tables]
            for tables in (self.absent, self.present)
        ]
        return -np.moveaxis(np.array(found), 1, 3)


def _numbers(mean: Values, squares: Values) -> tuple[Values, Values]:
    """(…, P) Numbers of relevant pairs and their probabilities, from sums of shares and of their
    squares. They are the sum of a certain number, one more pair with some probability, and a
    Poisson number, so mean and variance are exact, as is the distribution for a single pair."""
    sure = np.floor(np.maximum(squares, 0))
    chance = np.sqrt(np.maximum(squares, 0) - sure)
    rest = np.maximum(mean - sure - chance, 0)
    most = rest.max(initial=0)
    more = np.arange(np.ceil(most + 6 * np.sqrt(most) + 2))
    poisson = np.exp(
        special.xlogy(more, rest[..., None]) - special.gammaln(more + 1) - rest[..., None]
    )
    both = [(1 - chance)[..., None] * poisson, chance[..., None] * poisson]
    low = sure[..., None] + more
    return np.concatenate([low, low + 1], axis=-1), np.concatenate(both, axis=-1)


def _read(table: Values, share: Values) -> Values:
    """A table (Q, G) at shares (S, Q, k) or (S, Q, k, L), linearly interpolated."""
    queries = np.arange(len(table)).reshape(-1, *[1] * (share.ndim - 2))
    step = share * (len(_OWN) - 1)
    low = np.clip(step.astype(np.int64), 0, len(_OWN) - 2)
    below = table[queries, low]
    return below + (step - low) * (table[queries, low + 1] - below)


def _best(of: Kind, counts: Values, gains: Values) -> Values:
    """Ideal value of this many pairs at each level (…, L), interpolated linearly. It is at least
    the value of one relevant document, since a query without any scores 0."""
    lowest = int(np.argmax(gains > 0))
    counts = np.maximum(counts, np.arange(len(gains)) == lowest)
    if of.name != "nDCG":
        return counts @ gains
    sums = np.concatenate([[0.0], np.cumsum(of.discount)])
    return np.interp(counts, np.arange(of.k + 1), sums) @ gains

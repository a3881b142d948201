"""Writes measures as sums over a frame: exactly for P, DCG and RBP, to first order for ratios."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from compute.base.errors import WrongInput
from compute.evaluate import measures
from compute.evaluate.estimates.frames import Flags, Frame, Values

ESTIMATED = ("P", "DCG", "RBP", "nDCG", "R", "AP")
RATIOS = ("nDCG", "R", "AP")
"""Measures that divide by the ideal value or by the number of relevant documents, both of which
include the frame and judged documents outside it."""
_OWN = np.linspace(0, 1, 21)


@dataclass(frozen=True)
class Kind:
    """The properties of a measure that an estimate needs."""

    name: str
    k: int
    discount: Values
    """(k,) Value of a gain of 1 at each rank; for AP it is multiplied by the number of relevant
    documents down to the rank."""
    graded: bool
    least: float

    @property
    def is_ratio(self) -> bool:
        return self.name in RATIOS

    def gains(self, steps: Values, levels: Values) -> Values:
        """Return the gain added by reaching each level, (L,)."""
        if self.graded:
            return steps
        return (np.arange(len(levels)) == np.searchsorted(levels, self.least)).astype(np.float64)


def kind(measure: str) -> Kind:
    """Return the properties of a measure. Raises WrongInput if it cannot be estimated."""
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
    """Return the least and the largest possible mean of each system, (S,) each, by a measure that
    is a sum (P, DCG, RBP). `grades` (N,) are NaN for unjudged pairs; `levels` are the grades that
    can be given, ascending. The least mean is the current score, which counts unjudged documents as
    not relevant."""
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
    """A measure linearised at shares (N, L), the probabilities that pairs reach levels: its value
    by query, and the contribution of each pair."""

    values: Values
    """(S, Q) The value at these shares."""
    moves: Values
    """(N, S, L) What each pair adds to its query's value if it reaches a level."""
    shares: Values
    """(N, L)"""
    rest: Values | float = 0.0
    """(S, S) Covariance of what the means differ from linear ones, as far as a model says."""

    def moved(self, frame: Frame, change: Values) -> Values:
        """Return the values after a change (N, L) of the shares, (S, Q)."""
        return self.values + counted(frame, np.einsum("nsl,nl->ns", self.moves, change)).T


def linear(
    frame: Frame,
    of: Kind,
    shares: Values,
    steps: Values,
    levels: Values,
    together: float = 0.0,
    outside: Values | None = None,
) -> Linear:
    """Linearise a measure at shares (N, L), the probabilities that each pair reaches each level.
    The value is the expectation if pairs reach levels with these probabilities; a slope is the
    difference that one pair makes, so a ratio does not need precise numbers of relevant documents
    per query. If one pair is relevant, the others' probabilities are multiplied by 1 + `together`;
    a share of 0 or 1 is certain. `outside` (Q, L) counts judged pairs outside the frame by the
    levels that they reach (`Frame.outside`; default: none), which belong to a ratio's ideal
    order."""
    gains, share = of.gains(steps, levels), _ranked(frame, shares, of.k)
    worth = np.broadcast_to(of.discount[:, None] * gains, share.shape)
    if not of.is_ratio:
        return Linear((worth * share).sum(axis=(2, 3)), _moves(frame, worth), shares)
    outside = np.zeros((len(frame.queries), len(steps))) if outside is None else outside
    inverse = _Inverse.of(frame, of, shares, gains, 1 + together, outside)
    given, each = inverse.given(share), worth * share
    value, absent, present = given
    if of.name == "AP":
        others = np.where(share < 1, (1 + together) * share, 1)
        worth = (1 + np.cumsum(others, axis=2) - others) * worth
    terms = worth * share
    slopes = worth * value - terms * (share * present + (1 - share) * absent)
    if of.name == "AP":
        slopes = slopes + (1 + together) * _below(each, given, share)
    values = (terms * value).sum(axis=(2, 3))
    absent, present = inverse.falls(terms, share)[:, :, frame.query].swapaxes(1, 2)
    shared = shares[:, None]
    moves = _moves(frame, slopes) - (1 - shared) * absent - shared * present
    return Linear(values, moves, shares)


def _moves(frame: Frame, slopes: Values) -> Values:
    """Return the slopes (S, Q, k, L) of each row, (N, S, L); 0 for systems without it."""
    inside = (frame.rank > 0) & (frame.rank <= slopes.shape[2])
    place = np.where(inside, frame.rank, 1) - 1
    return slopes[np.arange(len(slopes)), frame.query[:, None], place] * inside[:, :, None]


def _below(each: Values, given: list[Values], share: Values) -> Values:
    """Return what a pair adds to average precision at relevant documents below it, (S, Q, k, L)."""

    def total(found: Values) -> Values:
        return np.cumsum(found[:, :, ::-1], axis=2)[:, :, ::-1] - found

    value, absent, present = (total(each * one) for one in given)
    # `_Inverse.falls` also includes this contribution, which is removed here.
    return value + (1 - share) * absent - share * (share * present + (1 - share) * absent)


def _ranked(frame: Frame, shares: Values, k: int) -> Values:
    """Return the shares (N, L) of the document at each rank, (S, Q, k, L); 0 for empty ranks."""
    padded = np.concatenate([shares, np.zeros((1, shares.shape[1]))])
    return padded[frame.places[:, :, :k]]


def counted(frame: Frame, shares: Values | Flags) -> Values:
    """Return the sum of the shares of each query, (Q, L)."""
    columns = [np.bincount(frame.query, column, len(frame.queries)) for column in shares.T]
    return np.column_stack(columns).astype(np.float64)


@dataclass(frozen=True)
class _Inverse:
    """The expected inverse of each query's ideal value, given that one pair reaches a level. Within
    a query, the numbers of pairs at all levels vary together. Tables are by query and by the pair's
    own share (0 to 1 in G steps), which is first subtracted from the query's sums."""

    value: Values
    """(L, Q, G) The inverse if the pair itself reaches this level and the lower ones."""
    absent: Values
    """(L, Q, G) Change of the inverse if another, uncounted pair reaches this level."""
    present: Values
    """(L, Q, G) The same if the other pair was counted."""

    @classmethod
    def of(
        cls, frame: Frame, of: Kind, shares: Values, gains: Values, beside: float, outside: Values
    ) -> "_Inverse":
        """Tabulate the inverses; `beside` is the factor of the other pairs' shares if a pair is
        relevant."""
        others = np.where(shares < 1, beside * shares, 1)
        mean = counted(frame, others) + outside
        squares = counted(frame, others**2) + outside
        own = np.where(_OWN < 1, beside * _OWN, 1)
        variance = mean - squares
        along = np.divide(
            variance, variance[:, :1], out=np.zeros_like(variance), where=variance > 0
        )
        number, chance = _numbers(mean[:, :1] - own, squares[:, :1] - own**2)
        spread = (number - (mean[:, :1] - own)[:, :, None])[..., None] * along[:, None, None]

        def expected(levels: Values, more: Values) -> Values:
            """Return the expected inverse, (Q, G), without the pair's own share at `levels` and
            with `more` pairs at each level."""
            counts = mean[:, None] - own[:, None] * levels + more
            return (chance / _best(of, counts[:, :, None] + spread, gains)).sum(axis=2)

        below, each = np.tri(len(gains)), np.eye(len(gains))
        now = expected(each[0], each[0])
        return cls(
            np.array([expected(row, row) for row in below]),
            beside * np.array([expected(each[0], each[0] + row) - now for row in each]),
            beside * np.array([now - expected(each[0], each[0] - row) for row in each]),
        )

    def given(self, share: Values) -> list[Values]:
        """Read the three tables at the pairs' counted shares, (S, Q, k, L)."""
        levels = range(share.shape[3])
        return [
            np.stack([_read(table[level], share[..., level]) for level in levels], axis=3)
            for table in (self.value, self.absent, self.present)
        ]

    def falls(self, terms: Values, share: Values) -> Values:
        """Return the decrease of the value if a pair at any rank reaches a level, (2, S, Q, L), for
        a pair that was not counted yet and for one that was, from terms (S, Q, k, L)."""
        found = [
            [(terms * _read(table, share)).sum(axis=(2, 3)) for table in tables]
            for tables in (self.absent, self.present)
        ]
        return -np.moveaxis(np.array(found), 1, 3)


def _numbers(mean: Values, squares: Values) -> tuple[Values, Values]:
    """Return possible numbers of relevant pairs and their probabilities, (…, P) each, from sums of
    shares and of their squares. A number is the sum of a certain number, one more pair with some
    probability, and a Poisson number, so mean and variance are exact, as is the distribution for a
    single pair."""
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
    """Read a table (Q, G) at shares (S, Q, k) or (S, Q, k, L), with linear interpolation."""
    queries = np.arange(len(table)).reshape(-1, *[1] * (share.ndim - 2))
    step = share * (len(_OWN) - 1)
    low = np.clip(step.astype(np.int64), 0, len(_OWN) - 2)
    below = table[queries, low]
    return below + (step - low) * (table[queries, low + 1] - below)


def _best(of: Kind, counts: Values, gains: Values) -> Values:
    """Return the ideal value of this many pairs at each level (…, L), interpolated linearly. It is
    at least that of one relevant document, since a query without relevant documents scores 0
    anyway."""
    lowest = int(np.argmax(gains > 0))
    counts = np.maximum(counts, np.arange(len(gains)) == lowest)
    if of.name != "nDCG":
        return counts @ gains
    sums = np.concatenate([[0.0], np.cumsum(of.discount)])
    return np.interp(counts, np.arange(of.k + 1), sums) @ gains

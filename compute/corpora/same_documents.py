"""Matches the judged documents of an older version of a collection with a newer version, by text.
Equal ids count only if the texts are equal. A match is ambiguous if several documents with
different judgements have the text, or if the best match is not clearly ahead of the second
(`descent.is_ahead`)."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.corpora.descent import LEAST, SHORTEST, Found, Sources, is_ahead
from compute.corpora.near_equal import plain

SAME_ID, EQUAL, NEAR = "same id and text", "equal text", "near-equal text"
PART, WHOLE = "part of the old document", "contains the old document"
VERSION = 0.6
"""Minimum length of a version, relative to the other text; a shorter text is a part of it."""
_SLICE = 40_000_000
"""Number of characters searched for at a time, which need 160 MB of hashes."""
Texts = Callable[[], Iterable[tuple[str, str]]]
"""A function that yields the ids and texts of a collection, from the beginning at each call."""


class Match(NamedTuple):
    """A document of the newer collection (`new`) that matches a judged one of the older (`old`);
    `how` is one of the constants above."""

    old: str
    new: str
    how: str
    similarity: float


@dataclass
class Matches:
    """Matches of judged documents. A document without a match is ambiguous or lost."""

    found: list[Match] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    """New documents with the same text as an old document."""


def matches(old: Texts, new: Texts, judged: Mapping[str, object]) -> Matches:
    """Match the judged documents; `judged` maps each to a value that is equal for documents with
    the same judgements."""
    equal, known = _equal(_marks(old), _marks(new), judged)
    left = known - {one.old for one in equal.found} - equal.ambiguous
    near = _near(old, new, left, equal.taken)
    return Matches(equal.found + near.found, equal.ambiguous | near.ambiguous)


def _marks(texts: Texts) -> DataFrame:
    """Return each text's id and mark, a hash of its words."""
    ids, marks = list[str](), list[int]()
    for name, text in texts():
        content = plain(text).encode("utf-8", "surrogatepass")
        ids.append(name)
        marks.append(int.from_bytes(hashlib.blake2b(content, digest_size=8).digest()))
    return DataFrame({"id": pd.Series(ids, dtype="str"), "mark": np.array(marks, np.uint64)})


def _equal(
    olds: DataFrame, news: DataFrame, judged: Mapping[str, object]
) -> tuple[Matches, set[str]]:
    """Return the matches by equal text, and the judged documents that the older collection has."""
    same = olds.merge(news, on=["id", "mark"])["id"]
    old, new = (rows[~rows["id"].isin(same)] for rows in (olds, news))
    found = Matches([Match(name, name, SAME_ID, 1.0) for name in same if name in judged])
    found.taken = {*same, *new.loc[new["mark"].isin(old["mark"]), "id"]}
    wanted = old.loc[old["id"].isin([*judged]) & old["mark"].isin(new["mark"]), "mark"]
    those, these = _by_mark(old, wanted), _by_mark(new, wanted)
    for mark, names in those.items():
        if len({judged.get(name) for name in names}) > 1:
            found.ambiguous |= {*names} & {*judged}
            continue
        # These have the same judgements, so any may match if more documents now have this text.
        each = names + names[:1] * len(these[mark])
        pairs = zip(each, these[mark], strict=False)
        found.found += [Match(one, other, EQUAL, 1.0) for one, other in pairs]
    return found, {*judged} & {*olds["id"]}


def _by_mark(rows: DataFrame, wanted: Iterable[int]) -> dict[int, list[str]]:
    """Group ids by mark, for the wanted marks."""
    found: dict[int, list[str]] = defaultdict(list)
    kept = rows[rows["mark"].isin([*wanted])]
    for name, mark in zip(kept["id"], kept["mark"], strict=True):
        found[mark].append(name)
    return found


def _near(old: Texts, new: Texts, left: Collection[str], taken: Collection[str]) -> Matches:
    """Match the judged old documents `left`, which have no equal text: with new documents that are
    versions or parts of them, or else with a new one that contains them. New documents that are
    `taken` match no other. An old document with only unclear similar texts is ambiguous."""
    backward: dict[str, tuple[int, list[Found]]] = {}
    candidates = set[str]()
    for names, sources in _sources(old, left):
        sources.watch(new())
        candidates |= sources.keys
        backward |= _looked(names, sources)
    claims: dict[str, list[Match]] = defaultdict(list)
    found, versions = Matches(), {*taken}
    for names, sources in _sources(new, candidates - {*taken}):
        sources.watch(old())
        for name, (size, near) in _looked(names, sources).items():
            close = [one for one in near if one.similarity >= LEAST]
            versions |= {name} if any(_is_version(size, one.size) for one in close) else set()
            if claim := _claim(name, size, near):
                claims[claim.old].append(claim)
    for name, (size, near) in backward.items():
        mine = _settled(claims[name], near) or _held(name, size, near, versions)
        found.found += mine
        if not mine and any(one.similarity >= LEAST for one in near):
            found.ambiguous.add(name)
    return found


def _sources(texts: Texts, wanted: Collection[str]) -> Iterator[tuple[list[str], Sources]]:
    """Yield the wanted texts in slices, with their ids."""
    names, held, size = list[str](), list[str](), 0
    for name, text in texts() if wanted else ():
        if name not in wanted:
            continue
        names.append(name)
        held.append(plain(text))
        size += len(held[-1])
        if size > _SLICE:
            yield names, Sources(held)
            names, held, size = [], [], 0
    if names:
        yield names, Sources(held)


def _looked(names: list[str], sources: Sources) -> dict[str, tuple[int, list[Found]]]:
    """Return for each text its number of 5-grams and the texts that are most similar to it."""
    sizes = map(len, sources.hashes)
    return dict(zip(names, zip(sizes, sources.found, strict=True), strict=True))


def _is_version(size: int, other: int) -> bool:
    """Return whether two texts, by their numbers of 5-grams, are similar in length."""
    return min(size, other) >= VERSION * max(size, other)


def _claim(name: str, size: int, near: list[Found]) -> Match | None:
    """Match a new document with the old one of which it is clearly a version or a part."""
    if not near or near[0].similarity < LEAST or near[0].size < VERSION * size:
        return None
    best, *others = near
    if min(size, best.size) < SHORTEST:
        return None
    if not all(is_ahead(best, other) for other in others):
        return None
    how = NEAR if _is_version(size, best.size) else PART
    return Match(best.key, name, how, best.similarity)


def _settled(claims: list[Match], near: list[Found]) -> list[Match]:
    """Return all parts and one version: of several versions, the one clearly ahead, if any."""
    parts = [one for one in claims if one.how == PART]
    versions = {one.new: one for one in claims if one.how == NEAR}
    if len(versions) > 1:
        known = [one for one in near if one.key in versions]
        clear = len(known) == len(versions) and all(is_ahead(known[0], o) for o in known[1:])
        return parts + ([versions[known[0].key]] if clear else [])
    return [*parts, *versions.values()]


def _held(name: str, size: int, near: list[Found], versions: Collection[str]) -> list[Match]:
    """Return the new document that clearly contains an old one and is no version of another."""
    best = next((one for one in near if one.key not in versions), None)
    if not best or best.similarity < LEAST or not SHORTEST <= size < VERSION * best.size:
        return []
    if not all(is_ahead(best, other) for other in near if other is not best):
        return []
    return [Match(name, best.key, WHOLE, best.similarity)]

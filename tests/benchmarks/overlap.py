"""Counts words side by side with other ways, and compares vocabularies; prints times and memory.

    python -m tests.benchmarks.overlap [MILLIONS OF TOKENS [WORDS OF A VOCABULARY [WAY …]]]

The default is 50 1000000 and every way of counting. Made-up documents of 100 words each,
frequencies by Zipf's law over a million words. Every way runs in a process of its own, starts at
the file of documents and ends with all counts in memory (ours: in its database). polars is no
dependency: without it, it is left out.
The bars: 4 times as quick as CountVectorizer on unigrams, twice on bigrams, in less than 1 GB;
19 vocabularies of a million words compared in less than 1 s, beside sparse matrices of scipy;
30 stored corpora of 3.5 times as many bigrams in less than 90 s and 1 GB, from their files on.
"""

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from compute.base.settings import Settings
from compute.corpora.overlap.comparing import between
from compute.corpora.overlap.counting import counted
from compute.corpora.overlap.jaccard import FLOORS, Vocabulary, similarities, sums
from compute.corpora.overlap.tokens import UNITS
from compute.store.loading import Bench
from compute.store.parts import KINDS
from compute.store.store import Store
from tests.benchmarks.side_by_side import Row, peak, quicker, say, show
from tests.benchmarks.side_by_side import seconds as told

WORDS = 1_000_000
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
PER_DOCUMENT = 100
CORPORA = 30
BATCH = 20_000
Found = tuple[int, int]
"""Different terms, and all."""


def word(number: int) -> str:
    """A word of its own for each number; the frequent ones are short."""
    number, letters = number + len(LETTERS), ""
    while number:
        number, place = divmod(number, len(LETTERS))
        letters += LETTERS[place]
    return letters


def write(file: Path, tokens: int) -> None:
    """A file of documents as the store has it."""
    random = np.random.default_rng(seed=1)
    up_to = np.cumsum(1 / np.arange(1, WORDS + 1) ** 1.07)
    words = pa.array([word(number) for number in range(WORDS)])
    with pq.ParquetWriter(file, KINDS["documents"], compression="zstd") as writer:
        for first in range(0, tokens // PER_DOCUMENT, BATCH):
            rows = min(BATCH, tokens // PER_DOCUMENT - first)
            chosen = np.searchsorted(up_to, random.random(rows * PER_DOCUMENT) * up_to[-1])
            offsets = pa.array(np.arange(rows + 1) * PER_DOCUMENT, pa.int32())
            lists = pa.ListArray.from_arrays(offsets, words.take(chosen))
            joined = pc.call_function("binary_join", [lists, pa.scalar(", ")])
            columns = {
                "dataset": pa.repeat("big", rows),
                "doc_id": pa.array([str(first + number) for number in range(rows)]),
                "title": pa.repeat("", rows),
                "text": joined,
                "n_words": pa.repeat(pa.scalar(PER_DOCUMENT, pa.int32()), rows),
            }
            writer.write_table(pa.table(columns, KINDS["documents"]))


def texts(file: Path) -> Iterator[str]:
    for batch in pq.ParquetFile(file).iter_batches(BATCH, columns=["text"]):
        yield from batch["text"].to_pylist()


def ours(file: Path, n: int) -> Found:
    unit = "unigrams" if n == 1 else "bigrams"
    with counted("ngrams", file, Settings(home=file.parent), units=[unit]) as connection:
        query = "select count(*), sum(count)::bigint from counted"
        return connection.execute(query).fetchall()[0]


def by_count_vectorizer(file: Path, n: int) -> Found:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern=r"\w+", ngram_range=(n, n))
    counts: Any = vectorizer.fit_transform(texts(file))
    return counts.shape[1], int(counts.sum())


def by_counter(file: Path, n: int) -> Found:
    found, pattern = Counter[str](), re.compile(r"\w+")
    for text in texts(file):
        words = pattern.findall(text.lower())
        found.update(words if n == 1 else map(" ".join, pairwise(words)))
    return len(found), found.total()


def by_polars(file: Path, n: int) -> Found:
    import polars as pl  # pyrefly: ignore

    words = pl.col("text").str.to_lowercase().str.extract_all(r"\w+")
    frame = pl.scan_parquet(file).select(words.alias("words"))
    if n == 1:
        terms = frame.select(pl.col("words").explode().alias("term"))
    else:
        first, second = (pl.col("words").list.slice(start) for start in (0, 1))
        pairs = frame.select(first.list.head(pl.col("words").list.len() - 1), second.alias("next"))
        exploded = pairs.explode("words", "next")
        terms = exploded.select((pl.col("words") + " " + pl.col("next")).alias("term"))
    counts = terms.group_by("term").len("n").collect(engine="streaming")
    return counts.height, int(counts["n"].sum())


WAYS: dict[str, Callable[[Path, int], Found]] = {
    "ours": ours,
    "CountVectorizer": by_count_vectorizer,
    "Counter": by_counter,
    "polars": by_polars,
}


def measure(name: str, n: int, file: Path) -> None:
    """Count, and print seconds, terms, tokens and the peak memory in MB."""
    start = time.perf_counter()
    terms, tokens = WAYS[name](file, n)
    seconds = time.perf_counter() - start
    sys.stdout.write(json.dumps([seconds, terms, tokens, peak()]))


def count(file: Path, ways: Sequence[str]) -> None:
    """Every way by uni- and by bigrams; all have to find the same counts."""
    for n, bar in ((1, 4), (2, 2)):
        found = {}
        for name in ways:
            command = [sys.executable, "-m", __spec__.name, "measure", name, str(n), str(file)]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            if answer.returncode:
                say(f"  {name} on {n}-grams ended with status {answer.returncode}")
                continue
            found[name] = json.loads(answer.stdout)
            seconds, terms, tokens, most = found[name]
            rates = f"{tokens / seconds / 1e6:.2f} M/s, {most:,} MB, {terms:,} terms"
            say(f"  {n}-grams, {name}: {seconds:.1f} s, {rates}")
        assert len({tuple(values[1:3]) for values in found.values()}) == 1
        if "CountVectorizer" in found:
            _row(n, bar, *found["ours"], *found["CountVectorizer"])


def _row(n: int, bar: int, *figures: float) -> None:
    ours, _, tokens, most, theirs, _, _, their_most = figures
    show(
        Row(
            work=f"count {'unigrams' if n == 1 else 'bigrams'}, {tokens / 1e6:,.0f} million tokens",
            bar=f"{bar} times as quick as scikit-learn's CountVectorizer, under 1 GB",
            ours=f"{told(ours)}, {most:,} MB",
            peer=f"CountVectorizer {told(theirs)}, {their_most:,} MB",
            ratio=f"{quicker(theirs, ours)}, {most / their_most:.2f} of the memory",
            met=theirs >= bar * ours and most < 1000,
        )
    )


def compare(words: int) -> None:
    """19 vocabularies of so many words, each pair at four floors."""
    vocabularies = made_up(words)
    start = time.perf_counter()
    totals = {name: sums(one.shares) for name, one in vocabularies.items()}
    rows = similarities([vocabularies], totals, list(vocabularies))
    took = time.perf_counter() - start
    start = time.perf_counter()
    expected = by_scipy(vocabularies, 4 * words)
    theirs = time.perf_counter() - start
    assert np.allclose(rows["similarity"], expected, rtol=0, atol=1e-9)
    show(
        Row(
            work=f"weighted Jaccard of 19 vocabularies of {words:,} words, {len(rows)} values",
            bar="under 1 s",
            ours=told(took),
            peer=f"scipy's sparse matrices {told(theirs)}",
            ratio=f"{quicker(theirs, took)}; values equal",
            met=took < 1,
        )
    )


def made_up(words: int, number: int = 19) -> dict[str, Vocabulary]:
    """Corpora that share words, as the store gives them."""
    random = np.random.default_rng(seed=2)
    vocabularies = {}
    for name in map(str, range(number)):
        # Frequent words are frequent in most corpora; so stand places in the shared index.
        order = np.arange(4 * words) * random.uniform(0.5, 2, 4 * words)
        places = np.argsort(order)[:words]
        shares = 1 / np.arange(1, words + 1) ** 1.07
        # In the order of the index.
        by_place = np.argsort(places)
        vocabularies[name] = Vocabulary(places[by_place], (shares / shares.sum())[by_place])
    return vocabularies


def by_scipy(vocabularies: Mapping[str, Vocabulary], size: int) -> list[float]:
    """The similarities in the same order; one row of a sparse matrix for each corpus."""
    found = []
    for floor in FLOORS:
        rows = []
        for words in (vocabulary.above(floor) for vocabulary in vocabularies.values()):
            ends = np.array([0, len(words.places)])
            rows.append(sparse.csr_array((words.shares, words.places, ends), shape=(1, size)))
        for one, other in combinations(rows, 2):
            least = one.minimum(other).sum()
            found.append(float(least / (one.sum() + other.sum() - least)))
    return found


def compare_stored(terms: int) -> None:
    """30 stored corpora of so many bigrams each: all pairs, then those of one corpus alone."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Settings(home=Path(folder)))
        stored = sum(publish(store, str(number), terms) for number in range(CORPORA))
        store.close()
        found = []
        for of in (CORPORA, 1):
            command = [sys.executable, "-m", __spec__.name, "compare", folder, str(of)]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(answer.stdout))
    (took, values, most), (alone, _, _) = found
    show(
        Row(
            work=f"weighted Jaccard of {CORPORA} stored corpora, {stored / 1e6:,.3g} million "
            f"bigrams, {values:,} values",
            bar="under 90 s, under 1 GB",
            ours=f"{told(took)}, {most:,} MB",
            peer="",
            ratio=f"one new corpus with the others in {told(alone)}",
            met=took < 90 and most < 1000,
        )
    )


def publish(store: Store, name: str, terms: int) -> int:
    """Made-up counts of about so many bigrams, the frequent ones in most corpora; their number."""
    drawn = np.random.default_rng(int(name)).random(terms * 5 // 4) ** 3 * 8 * terms
    numbers = np.unique(drawn.astype(np.int64))
    base = math.isqrt(8 * terms) + 1
    words = pa.array([word(number) for number in range(base)])
    first, second = words.take(numbers // base), words.take(numbers % base)
    joined = pc.call_function("binary_join_element_wise", [first, second, " "])
    counts = (terms / np.arange(1, len(numbers) + 1) ** 1.07).astype(np.int64) + 1
    columns = {"n": np.full(len(numbers), 2, np.int32), "term": joined, "count": counts}
    about = {"bigrams": {"terms": len(numbers), "tokens": int(counts.sum())}}
    with store.publishing("counts") as publication:
        content = pa.table(columns).to_reader()
        of = {"dataset": name, "fingerprint": "f", "provenance": {"units": about}}
        publication.add("ngrams", content, **of)
    return len(numbers)


def measure_stored(home: Path, of: int) -> None:
    """Compare so many of the corpora with all, and print seconds, values and the peak memory."""
    store = Store(Settings(home=home))
    parts = {part.dataset: part for part in store.parts("ngrams") if not part.shipped}
    start = time.perf_counter()
    rows = between(Bench(store, store.settings), UNITS["bigrams"], parts, list(parts)[:of])
    sys.stdout.write(json.dumps([time.perf_counter() - start, len(rows), peak()]))


def main(words: Sequence[str]) -> None:
    if words[:1] == ["measure"]:
        measure(words[1], int(words[2]), Path(words[3]))
        return
    if words[:1] == ["compare"]:
        measure_stored(Path(words[1]), int(words[2]))
        return
    millions, vocabulary, *ways = [*words, *("50", "1000000")[len(words) :]]
    compare(int(vocabulary))
    compare_stored(int(vocabulary) * 7 // 2)
    here = [name for name in WAYS if name != "polars" or importlib.util.find_spec("polars")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents.parquet"
        write(file, round(float(millions) * 1_000_000))
        count(file, ["ours", *ways] if ways else here)
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(sys.argv[1:])

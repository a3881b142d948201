"""Counts words side by side with other ways, and compares vocabularies; prints times and memory.

    python -m tests.benchmarks.overlap [MILLIONS OF TOKENS]      (default: 50)

Made-up documents of 100 words each, frequencies by Zipf's law over a million words. Every way runs
in a process of its own, starts at the file of documents and ends with all counts in memory (ours:
in its database). polars is no dependency: without it, it is left out.
The bars: 4 times as quick as CountVectorizer on unigrams, twice on bigrams, in less than 1 GB;
19 vocabularies of a million words compared in less than 1 s.
"""

import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compute.overlap.counting import counted
from compute.overlap.jaccard import Vocabulary, similarities
from compute.settings import Settings
from compute.store import KINDS

WORDS = 1_000_000
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
PER_DOCUMENT = 100
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
    import polars as pl  # pyright: ignore[reportMissingImports]

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


def peak() -> int:
    """The most memory that this process had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux it begins with that of the process that started this one.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("utf-8"))
        return int(found[1]) // 1024 if found else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024**2


def count(file: Path) -> None:
    ways = [name for name in WAYS if name != "polars" or importlib.util.find_spec("polars")]
    for n, bar in ((1, 4.0), (2, 2.0)):
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
            ratio = found["CountVectorizer"][0] / found["ours"][0]
            verdict = "reached" if ratio >= bar and found["ours"][3] < 1000 else "MISSED"
            say(f"  {ratio:.1f} times as quick as CountVectorizer (bar {bar:.0f}: {verdict})")


def compare() -> None:
    random = np.random.default_rng(seed=2)
    vocabularies = {}
    for number in range(19):
        # Frequent words are frequent in most corpora; so stand places in the shared index.
        order = np.arange(4 * WORDS) * random.uniform(0.5, 2, 4 * WORDS)
        places = np.argsort(order)[:WORDS].astype(np.int32)
        shares = 1 / np.arange(1, WORDS + 1) ** 1.07
        # As the store gives them: in the order of the index.
        by_place = np.argsort(places)
        vocabularies[str(number)] = Vocabulary(places[by_place], (shares / shares.sum())[by_place])
    start = time.perf_counter()
    rows = similarities(vocabularies, 4 * WORDS, list(vocabularies))
    seconds = time.perf_counter() - start
    verdict = "reached" if seconds < 1 else "MISSED"
    told = f"{seconds:.2f} s for {len(rows)} similarities, four floors each pair"
    say(f"19 vocabularies of {WORDS:,} words: {told} ({verdict})")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> None:
    if words[:1] == ["measure"]:
        measure(words[1], int(words[2]), Path(words[3]))
        return
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    compare()
    millions = int(words[0]) if words else 50
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents.parquet"
        write(file, millions * 1_000_000)
        say(f"{millions} million tokens")
        count(file)
    say(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main(sys.argv[1:])

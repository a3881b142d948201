"""Leaks of known size in a made-up training set: precision, recall, seconds and memory.

    python -m tests.benchmarks.made.leakage 500000 0.7

1,000 queries of 3 to 12 words and 2,000 documents of 60 to 150, words as often as in text (Zipf).
Of each a quarter is copied, a quarter in other case and punctuation, of a quarter one word in ten
(at least one) is another, of a quarter half, so that every text has one in the training set.
"""

import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from compute.base.settings import Settings
from compute.intake import imports, leakage
from compute.recompute.run import read
from compute.store.loading import Bench
from compute.store.store import Store

_RANDOM = random.Random(20261123)
_WORDS = ["".join(_RANDOM.choices("etaoinshrdlucmfwypvbgk", k=2 + n % 9)) for n in range(20_000)]
_CHANCES = list(accumulate(1 / (rank + 3) for rank in range(len(_WORDS))))


def words(least: int, most: int) -> list[str]:
    """A text of so many words."""
    return _RANDOM.choices(_WORDS, cum_weights=_CHANCES, k=_RANDOM.randint(least, most))


def replaced(text: list[str], share: float) -> str:
    """The text with this share of its words, at least one, replaced by others."""
    places = set(_RANDOM.sample(range(len(text)), max(1, round(share * len(text)))))
    new = iter(words(len(places), len(places)))
    return " ".join(next(new) if n in places else word for n, word in enumerate(text))


KINDS: dict[str, Callable[[list[str]], str]] = {
    "copied": " ".join,
    "case and punctuation": lambda text: f"“{', '.join(text).upper()}.”",
    "one word in ten": lambda text: replaced(text, 0.1),
    "half": lambda text: replaced(text, 0.5),
}


Leak = tuple[str, str]
"""What it is of, query or document, and the id."""


def made(folder: Path, n: int) -> tuple[dict[Leak, str], dict[str, Leak], Path]:
    """Write the collection and a training set of n texts: the kind of each leak, the leak at each
    line that has one, and the file."""
    queries = {f"q{number}": words(3, 12) for number in range(1_000)}
    documents = {f"d{number}": words(60, 150) for number in range(2_000)}
    (folder / "qrels").mkdir()
    lines = [f"q{number % 1_000}\td{number}\t1\n" for number in range(2_000)]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    for name, texts in (("queries", queries), ("corpus", documents)):
        rows = ({"_id": of, "title": "", "text": " ".join(text)} for of, text in texts.items())
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kinds, leaks, names = {}, [], list(KINDS)
    for what, texts in (("query", queries), ("document", documents)):
        for number, (of, text) in enumerate(texts.items()):
            kinds[what, of] = names[number % len(names)]
            leaks.append(KINDS[kinds[what, of]](text))
    places = _RANDOM.sample(range(n), len(leaks))
    at = dict(zip(places, leaks, strict=True))
    with (folder / "train.txt").open("w") as file:
        for number in range(n):
            file.write(at.get(number) or " ".join(words(20, 100)))
            file.write("\n")
    of_line = {f"line {place + 1}": of for place, of in zip(places, kinds, strict=True)}
    return kinds, of_line, folder / "train.txt"


def main() -> None:
    """Print the table."""
    n, threshold = int(sys.argv[1]), float(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds, of_line, training = made(folder, n)
        now = Settings(home=folder / "home", threads=1)
        bench = Bench(Store(now, shipped=folder / "nothing"), now)
        dataset = imports.import_dataset(bench, "made", path=folder).dataset
        before, start = peak(), time.process_time()
        part, _ = leakage.compare(bench, dataset, "train", files=[training], threshold=threshold)
        seconds = time.process_time() - start
        rows = read(part)[["of", "text_id", "training_id"]].itertuples(index=False, name=None)
        pairs = [((of, text_id), of_line.get(line)) for of, text_id, line in rows]
        right = [of for of, leak in pairs if of == leak]
        total = Counter((of, kind) for (of, _), kind in kinds.items())
        recall = Counter((of[0], kinds[of]) for of in right)
        report = {f"{of}, {kind}": recall[of, kind] / count for (of, kind), count in total.items()}
        print(json.dumps(report, indent=1))  # noqa: T201
        print(  # noqa: T201
            f"{n:,} texts, {training.stat().st_size / 1e6:.0f} MB, threshold {threshold:g}:"
            f" {seconds:.0f} s of processor, peak {peak():.0f} MB (before: {before:.0f});"
            f" {len(pairs):,} pairs, precision {len(right) / len(pairs):.4f}"
        )


def peak() -> float:
    """The most memory that this process had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main()

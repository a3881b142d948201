"""docT5query: BM25 over documents to which a model has added generated queries."""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import parquet_files
from compute.base.errors import WrongInput
from compute.base.files import written_aside
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.lexical.bm25 import Bm25
from compute.systems.neural import encoding
from compute.systems.neural.weights import batches, tokenizer_of, torch_on, whole_model
from compute.systems.searcher import Limited, Progress, limited

SHARD = 64
"""Number of documents in one file; an interrupted generation loses at most this many."""
_SEQUENCES = 40
"""Number of queries generated at once; each may need 38 MB for T5-base's keys and values."""
_COLUMNS = pa.schema([("doc_id", pa.string()), ("number", pa.int32()), ("text", pa.string())])
_SECONDS = b"seconds"
_T5 = Checkpoint("BeIR/query-gen-msmarco-t5-base-v1")

Ask = Callable[[list[str], list[int]], list[list[str]]]
"""A function from texts and a random seed to the queries of each text."""


@dataclass(frozen=True)
class Generator(Limited):
    """A sequence-to-sequence model that generates queries for documents, by sampling. Each word is
    drawn from the `top_k` likeliest ones, or from the fewest of these with a total probability of
    `top_p` (1 means all). The model reads title and text, joined with a space and truncated to
    `max_input` pieces, and writes at most `max_length` pieces. Random numbers restart with `seed`
    after every few documents, so an interrupted generation continues with the same queries. Raises
    WrongInput for a value out of range."""

    checkpoint: Checkpoint = _T5
    number: int = limited(40, 1)
    top_k: int = limited(10, 1)
    top_p: float = 1.0
    seed: int = limited(1, 0)
    max_length: int = limited(64, 1)
    max_input: int = limited(512, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.top_p <= 1:
            raise WrongInput(f"top_p is {self.top_p}; it must be above 0 and at most 1")

    def identity(self) -> dict[str, Any]:
        """Return everything that affects the queries, as JSON values."""
        drawn = {name: value for name, value in asdict(self).items() if name != "checkpoint"}
        return drawn | {
            "checkpoint": self.checkpoint.identity(),
            "fields": ["title + ' ' + text"],
        }

    def __str__(self) -> str:
        drawn = f"number={self.number},top_k={self.top_k},top_p={self.top_p:g},seed={self.seed}"
        return f"{self.checkpoint.model}({drawn},max_length={self.max_length})"

    def check(self) -> None:
        """Raise Unavailable if a library or the weights are missing."""
        self.checkpoint.check("torch", "transformers")

    def generate(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Generate queries for each document of a Parquet file (doc_id, title, text), and write
        them to files in `folder`. Finished shards are kept, so the next call resumes after an
        interruption."""
        file = parquet_files.opened(documents)
        ids = file.read(columns=["doc_id"])["doc_id"].to_pylist()
        texts = (encoding.joined(*record) for record in encoding.records(file))
        ask = None
        for first in range(0, len(ids), SHARD):
            shard = list(islice(texts, SHARD))
            target = folder / f"generated-{first // SHARD:06}.parquet"
            if not target.exists():
                ask = ask or self._load(settings)
                start = time.perf_counter()
                asked = self._asked(ask, shard, first, len(ids), progress)
                seconds = time.perf_counter() - start
                _save(target, ids[first : first + SHARD], asked, seconds)
            progress(first + len(shard), len(ids), "documents asked about")

    def _asked(
        self, ask: Ask, texts: list[str], first: int, total: int, progress: Progress
    ) -> list[list[str]]:
        """Generate the queries of a shard, in batches of texts of similar length."""
        found: list[list[str]] = [[] for _ in texts]
        batch = max(1, _SEQUENCES // self.number)
        order = np.argsort([len(text) for text in texts], kind="stable").tolist()
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            queries = ask([texts[place] for place in places], [self.seed, first, start])
            for place, own in zip(places, queries, strict=True):
                found[place] = own
            progress(first + start + len(places), total, "documents asked about")
        return found

    def _load(self, settings: Settings) -> Ask:
        """Load the model; returns a function that generates queries."""
        folder, torch = str(self.checkpoint.folder()), torch_on(settings)
        from transformers import AutoModelForSeq2SeqLM

        model = whole_model(AutoModelForSeq2SeqLM, folder, "a model that writes queries")
        tokenizer = tokenizer_of(folder)

        def ask(texts: list[str], seeds: list[int]) -> list[list[str]]:
            (batch,) = batches(tokenizer, texts, len(texts), self.max_input)
            with torch.random.fork_rng(), torch.inference_mode():
                torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1)[0]))
                written = model.generate(
                    **batch,
                    do_sample=True,
                    top_k=self.top_k,
                    top_p=self.top_p,
                    max_new_tokens=self.max_length,
                    num_return_sequences=self.number,
                )
            lines = tokenizer.batch_decode(written, skip_special_tokens=True)
            return [lines[at : at + self.number] for at in range(0, len(lines), self.number)]

        return ask


@dataclass(frozen=True)
class Doc2Query(OfCheckpoint, Bm25):
    """BM25 over title, text and generated queries, joined with spaces. Nogueira and Lin, "From
    doc2query to docTTTTTquery", 2019. The text that is indexed already contains the queries: they
    are a part of the store, generated once by `compute.recompute.generated_queries`."""

    checkpoint: Checkpoint = _T5
    number: int = 40
    top_k: int = 10
    top_p: float = 1.0
    seed: int = 1
    max_length: int = 64

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("k1", "b", "model", "number", "top_k", "top_p", "seed", "max_length"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.generator

    @property
    def generator(self) -> Generator:
        """Return the generator of the queries."""
        return Generator(
            self.checkpoint, self.number, self.top_k, self.top_p, self.seed, self.max_length
        )

    def index_identity(self) -> dict[str, Any]:
        """Return the identity of BM25's index, and everything that affects the queries."""
        return super().index_identity() | {"generated": self.generator.identity()}

    def identity(self) -> dict[str, Any]:
        """Return the identity of the index, and BM25's parameters."""
        return self.index_identity() | {"ranker": "Bm25", "k1": self.k1, "b": self.b}

    def check(self) -> None:
        """Raise Unavailable if Java, a library or the weights are missing."""
        super().check()
        self.generator.check()


def seconds(shards: Iterable[Path]) -> float:
    """Return the seconds of generation, including interrupted calls, without loading the model."""
    metadata = (pq.read_schema(shard).metadata or {} for shard in shards)
    return sum(float(found.get(_SECONDS, 0)) for found in metadata)


def _save(target: Path, ids: list[str], asked: list[list[str]], took: float) -> None:
    """Write the queries of a shard."""
    rows = [
        {"doc_id": doc_id, "number": number, "text": text}
        for doc_id, queries in zip(ids, asked, strict=True)
        for number, text in enumerate(queries, 1)
    ]
    table = pa.Table.from_pylist(rows, _COLUMNS)
    with written_aside(target, alone=True) as file:
        pq.write_table(table.replace_schema_metadata({_SECONDS: str(took)}), file)

"""Training loop: batches, steps, an evaluation after each epoch, and checkpoints to resume from.
All randomness comes from the seed: the batches of an epoch from seed and epoch, and dropout from
torch's generator, whose state a checkpoint stores with that of the optimiser."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pandas import DataFrame
from torch import Tensor

from compute.base import files
from compute.base.settings import Settings
from compute.evaluate import measures
from compute.store.loading import quiet
from compute.systems.augmented import examples, loss, model
from compute.systems.augmented.examples import Examples, Pairs, Queries
from compute.systems.augmented.loss import Asked
from compute.systems.augmented.model import Augmenter, Shape
from compute.systems.augmented.parameters import Parameters
from compute.systems.neural import weights
from compute.systems.training.recipes import MODEL, Material, Report

CHUNK = 48
"""Number of queries encoded at once; they have similar lengths, to limit padding."""
STARTS_FROM = 1_000
"""Number of training queries whose encodings initialise the heads."""
SCALES = tuple(2.0**-half for half in np.arange(0, 8, 0.5))
"""Candidates for the initial value of w."""
CALIBRATED_ON = 5
"""Number of batches on which the candidates are compared."""
WARM_UP = 0.1
"""Share of all steps during which the learning rate rises; afterwards it falls to 0."""
SPARING = 20
"""A checkpoint is written when SPARING times the duration of writing the last one has passed."""
TARGET = "nDCG@10"
CHECKPOINT, BEST = "checkpoint.pt", "best.pt"


def train(
    recipe: Parameters, material: Material, folder: Path, settings: Settings, report: Report
) -> dict[str, Any]:
    """Train as `Recipe.train` does; returns facts, with the best model in `folder / MODEL`."""
    weights.torch_on(settings)
    with threads(settings.threads):
        found = examples.read(material, material.about["hard_from"], quiet)
        loop = Loop(recipe, found, folder)
        loop.run(report)
        return loop.finish()


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Set torch's number of threads in the with-block: floating-point sums depend on it."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before)


class Loop:
    """A training: its state and its steps."""

    def __init__(self, recipe: Parameters, examples: Examples, folder: Path) -> None:
        self.recipe, self.examples, self.folder = recipe, examples, folder
        self.pieces = np.flatnonzero(examples.documents.frequencies > 0)
        self._documents = weighted(examples, recipe, self.pieces)
        self._prices = prices(examples, recipe, self.pieces)
        self._column = np.full(len(examples.documents.frequencies), -1)
        self._column[self.pieces] = np.arange(len(self.pieces))
        steps = -(-len(examples.train.query_ids) // recipe.batch)
        self.total = steps * recipe.epochs
        self.epoch = self.step = self.done = 0
        """Current epoch, number of its finished steps, and number of finished steps in all."""
        self.best: dict[str, float] = {}
        self.last: dict[str, float] = {}
        torch.manual_seed(recipe.seed)
        self.model = self._fresh()
        self._calibrate()
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=recipe.learning_rate, fused=True
        )
        self._written, self._took = time.perf_counter(), 0.0
        if (folder / CHECKPOINT).exists():
            self._restore()

    def run(self, report: Report) -> None:
        """Train until the last epoch, or until `patience` epochs have brought no improvement."""
        while self.epoch < self.recipe.epochs and not self._stalled():
            random = np.random.default_rng([self.recipe.seed, self.epoch])
            batches = examples.epoch(
                self.examples.train, self.recipe.batch, self.recipe.hard_negatives, random
            )
            self.model.train()
            for number, pairs in enumerate(batches):
                if number < self.step:
                    continue
                self.last = self._learn(pairs)
                self.step, self.done = number + 1, self.done + 1
                report(self.done, self.total, self.last)
                self._keep()
            held_out = self._held_out()
            report(self.done, self.total, held_out)
            if held_out[TARGET] > self.best.get(TARGET, -1.0):
                self.best = held_out | {"epoch": self.epoch + 1}
                _write(self.model.state_dict(), self.folder / BEST)
            self.epoch, self.step = self.epoch + 1, 0
            self._keep()

    def finish(self) -> dict[str, Any]:
        """Keep only the best epoch's model in `MODEL`; returns facts about the training."""
        self.model.load_state_dict(torch.load(self.folder / BEST, weights_only=True))
        size = len(self.examples.documents.frequencies)
        self.model.save(self.folder / MODEL, torch.from_numpy(self.pieces), size)
        for name in (CHECKPOINT, BEST):
            (self.folder / name).unlink(missing_ok=True)
        return {
            "best_epoch": int(self.best["epoch"]),
            f"held_out_{TARGET}": self.best[TARGET],
            "added_pieces": self.best["added pieces"],
            "epochs": self.epoch,
            "steps": self.done,
            "final_loss": self.last["loss"],
            "training_queries": len(self.examples.train.query_ids),
            "held_out_queries": len(self.examples.held_out.query_ids),
        }

    def _fresh(self) -> Augmenter:
        """Make a model whose heads are initialised with the first training queries."""
        recipe = self.recipe
        shape = Shape(
            recipe.k1,
            recipe.b,
            recipe.weights == "learned",
            recipe.vectors == "bm25",
            recipe.max_length,
            recipe.precision,
        )
        size = len(self.examples.documents.frequencies)
        made = model.fresh(recipe.checkpoint.folder(), size, len(self.pieces), shape)
        first = self.examples.train.pieces[:STARTS_FROM]
        batches = [made.batch(first[at : at + CHUNK]) for at in range(0, len(first), CHUNK)]
        made.start(batches)
        return made

    @torch.no_grad()
    def _calibrate(self) -> None:
        """Start with the constant w that minimises the contrastive loss of plain BM25. Any constant
        ranks like plain BM25, but its scores of 10 to 30 are far too confident in a softmax: with w
        = 1, the first steps would only reduce the weight of every word, to below 0."""
        if self.recipe.weights != "learned":
            return
        random = np.random.default_rng([self.recipe.seed, self.recipe.epochs])
        batches = examples.epoch(
            self.examples.train, self.recipe.batch, self.recipe.hard_negatives, random
        )
        sums = np.zeros(len(SCALES))
        for pairs in islice(batches, CALIBRATED_ON):
            found = self._plain(pairs)
            positive, masked = torch.from_numpy(pairs.positive), torch.from_numpy(pairs.masked)
            for place, scale in enumerate(SCALES):
                sums[place] += loss.contrastive(found * scale, positive, masked).item()
        self.model.weight.mul_(SCALES[int(sums.argmin())])

    def _plain(self, pairs: Pairs) -> Tensor:
        """Return the scores of plain BM25 for a batch."""
        read = [self._column[list(set(self.examples.train.pieces[q]))] for q in pairs.queries]
        known = [columns[columns >= 0] for columns in read]
        rows = np.repeat(np.arange(len(known)), [len(columns) for columns in known])
        columns = torch.from_numpy(np.concatenate(known))
        asked = Asked(torch.from_numpy(rows), columns, torch.ones(len(rows)))
        nothing = torch.zeros(len(known), len(self.pieces))
        return loss.scores(nothing, asked, _rows(self._documents, pairs.rows))

    def _learn(self, pairs: Pairs) -> dict[str, float]:
        """Learn from one batch; returns its losses."""
        added, asked = self._ask(self.examples.train, pairs.queries)
        documents = _rows(self._documents, pairs.rows)
        scores = loss.scores(added, asked, documents)
        positive, masked = torch.from_numpy(pairs.positive), torch.from_numpy(pairs.masked)
        contrastive = loss.contrastive(scores, positive, masked)
        sparsity = loss.sparsity(added, self._prices)
        total = contrastive + self.recipe.penalty * sparsity
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.learning_rate * self._pace()
        self.optimiser.zero_grad()
        total.backward()
        self.optimiser.step()
        return {
            "loss": total.item(),
            "contrastive": contrastive.item(),
            "sparsity": sparsity.item(),
        }

    def _pace(self) -> float:
        """Return the learning rate of this step as a share of the highest one."""
        rising = max(1.0, WARM_UP * self.total)
        return min((self.done + 1) / rising, 1.0) * (self.total - self.done) / self.total

    def _ask(self, queries: Queries, places: Any) -> tuple[Tensor, Asked]:
        """Return a(q) over the corpus's pieces, and the queries' own pieces as columns of it."""
        read = [queries.pieces[place] for place in places]
        chunks = [read[start : start + CHUNK] for start in range(0, len(read), CHUNK)]
        added, asked = self.model([self.model.batch(chunk) for chunk in chunks])
        column = torch.from_numpy(self._column)[asked.piece]
        known = column >= 0
        return added, Asked(asked.query[known], column[known], asked.weight[known])

    @torch.no_grad()
    def _held_out(self) -> dict[str, float]:
        """Return the nDCG@10 of held-out queries, and the mean number of pieces added to them."""
        self.model.eval()
        queries, tops, extra = self.examples.held_out, [], 0
        for start in range(0, len(queries.query_ids), self.recipe.batch):
            places = range(start, min(start + self.recipe.batch, len(queries.query_ids)))
            added, asked = self._ask(queries, list(places))
            extra += int((added > 0).sum()) - int((added[asked.query, asked.piece] > 0).sum())
            best = loss.scores(added, asked, self._documents).topk(min(10, len(self._documents)))
            tops += best.indices.tolist()
        doc_ids = self.examples.documents.doc_ids
        run = DataFrame(
            [
                (query_id, doc_ids[row], rank)
                for query_id, rows in zip(queries.query_ids, tops, strict=True)
                for rank, row in enumerate(rows, 1)
            ],
            columns=["query_id", "doc_id", "rank"],
        )
        scored = measures.evaluate(run, self.examples.held_out_judgements, [TARGET], depth=10)
        return {TARGET: float(scored["value"].mean()), "added pieces": extra / len(tops)}

    def _stalled(self) -> bool:
        """Return whether `patience` epochs have brought no improvement."""
        return bool(self.best) and self.epoch - self.best["epoch"] >= self.recipe.patience

    def _keep(self) -> None:
        """Write a checkpoint unless the last one is recent (see SPARING)."""
        since = time.perf_counter() - self._written
        if since < SPARING * self._took:
            return
        started = time.perf_counter()
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "at": [self.epoch, self.step, self.done],
            "best": self.best,
            "last": self.last,
        }
        _write(state, self.folder / CHECKPOINT)
        self._written = time.perf_counter()
        self._took = self._written - started

    def _restore(self) -> None:
        """Continue from the checkpoint."""
        state = torch.load(self.folder / CHECKPOINT, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        self.epoch, self.step, self.done = state["at"]
        self.best, self.last = state["best"], state["last"]


def weighted(examples: Examples, recipe: Parameters, pieces: Any) -> Tensor:
    """Return v * f(d) of every document, or bow(d), as a sparse matrix of documents x `pieces`."""
    documents = examples.documents
    if recipe.vectors == "words":
        matrix = documents.words()
    else:
        matrix = documents.bm25(recipe.k1, recipe.b)
        matrix.data = matrix.data * documents.idf[matrix.indices]
    chosen: Any = matrix.tocsc()[:, pieces]
    return _tensor(chosen.tocsr())


def prices(examples: Examples, recipe: Parameters, pieces: Any) -> Tensor:
    """Return the price of adding each piece: sqrt(df / N), or 1."""
    documents = examples.documents
    shares = np.sqrt(documents.frequencies[pieces] / documents.total).astype(np.float32)
    return torch.from_numpy(np.ones_like(shares) if recipe.price == "uniform" else shares)


def _rows(documents: Tensor, rows: Any) -> Tensor:
    return documents.index_select(0, torch.from_numpy(rows)).coalesce()


def _tensor(matrix: Any) -> Tensor:
    """Convert a SciPy matrix to a sparse tensor."""
    found = matrix.tocoo()
    places = torch.from_numpy(np.stack([found.row, found.col]).astype(np.int64))
    values = torch.from_numpy(found.data.astype(np.float32))
    return torch.sparse_coo_tensor(places, values, found.shape, check_invariants=True).coalesce()


def _write(state: Any, file: Path) -> None:
    """Write a file atomically."""
    with files.written_aside(file, alone=True) as stream:
        torch.save(state, stream)

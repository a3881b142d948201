"""Trains a bi-encoder on pairs with in-batch negatives, with sentence-transformers' trainer.

Henderson et al., "Efficient Natural Language Response Suggestion for Smart Reply", 2017: the
positive of each text is a negative for the other texts in the batch. The batch of a step depends
only on the step's number and the seed, so a training resumes from a checkpoint as if it had not
been interrupted.

torch and its libraries are imported inside the functions that compute.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.base.files import make_folder, sync_folder
from compute.base.settings import Settings
from compute.systems.neural.dense import loaded
from compute.systems.neural.weights import declared, refuse_longer, torch_on
from compute.systems.training.recipes import MODEL, Report

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import TrainerCallback

LIBRARIES = ("torch", "sentence_transformers", "accelerate", "datasets", "faiss")
CHECKPOINT_SECONDS = 120.0
"""Number of seconds between two checkpoints; a killed training repeats at most this many."""
_SCALES = {"cosine": 20.0, "dot": 1.0}
"""Factors that multiply similarities before the softmax, as in sentence-transformers."""

Pairs = Callable[[int], list[tuple[str, str]]]
"""A function from the number of a step, from 0, to its pairs (text, its positive)."""


@dataclass(frozen=True)
class Fit:
    """How a bi-encoder is trained: by AdamW with a learning rate that rises for `warmup` steps and
    then falls to 0. Texts are truncated to `max_length` word pieces; 0 means the model's own.
    `similarity` is cosine or dot; if empty, it is the model's, or `otherwise` if the model declares
    none."""

    steps: int
    lr: float
    warmup: int
    seed: int
    max_length: int = 0
    similarity: str = ""
    otherwise: str = "cosine"
    weight_decay: float = 0.01


def batch(n: int, size: int, seed: int, step: int) -> tuple[int, np.ndarray]:
    """Return the round to which a step belongs, from 0, and the step's documents out of `n`. Each
    round visits all documents once, in a new order; its last step may have fewer than `size`."""
    per_round = rounds_steps(n, size)
    number, place = divmod(step, per_round)
    order = np.random.default_rng([seed, number]).permutation(n)
    return number, order[place * size : (place + 1) * size]


def rounds_steps(n: int, size: int) -> int:
    """Return the number of steps in one round through `n` documents."""
    return -(-n // size)


def fit(
    start: Path, pairs: Pairs, how: Fit, folder: Path, settings: Settings, report: Report
) -> dict[str, Any]:
    """Train the model in `start`, or resume from the checkpoint in `folder`, and leave the result
    in `folder/model`. Returns the number of steps, the loss of the last one, the similarity and the
    truncation."""
    torch_on(settings)
    from sentence_transformers import SimilarityFunction

    model = loaded(start, settings)
    own = model.max_seq_length
    similarity = how.similarity or _says(start) or how.otherwise
    if similarity == "dot":
        # The dot product of unit vectors would be the cosine.
        kept = [part for part in model if type(part).__name__ != "Normalize"]
        model = type(model)(modules=kept, device=settings.device)
    if how.max_length:
        refuse_longer(model.config, start.name, how.max_length)
        model.max_seq_length = how.max_length
    cut = model.max_seq_length
    last: dict[str, float] = {}
    trainer = _trainer(model, pairs, how, folder, similarity, report, last)
    newest = _newest(folder)
    trainer.train(resume_from_checkpoint=str(newest) if newest else None)
    model.max_seq_length = own
    model.similarity_fn_name = SimilarityFunction(similarity)
    # The model card would contain examples and the date.
    model.save(str(folder / MODEL), create_model_card=False)
    return {"steps": how.steps, "similarity": similarity, "max_length": cut} | last


def _says(start: Path) -> str:
    """Return the similarity that a model declares, or cosine if it normalises vectors."""
    modules = start / "modules.json"
    unit = modules.is_file() and "Normalize" in modules.read_text("utf-8")
    return declared(start).get("similarity_fn_name") or ("cosine" if unit else "")


def _trainer(
    model: "SentenceTransformer",
    pairs: Pairs,
    how: Fit,
    folder: Path,
    similarity: str,
    report: Report,
    last: dict[str, float],
) -> Any:
    """Make a trainer with our batches; `last` receives the loss of the last step."""
    from datasets import Dataset
    from sentence_transformers import util
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from transformers import PrinterCallback

    compare = util.dot_score if similarity == "dot" else util.cos_sim
    aside = folder / "aside"
    shutil.rmtree(aside, ignore_errors=True)
    make_folder(aside)
    trainer = _kind(pairs, how.steps, last)(
        model=model,
        args=_arguments(how, aside, use_cpu=model.device.type == "cpu"),
        # Only the columns of this dataset are used, since batches are made from `pairs`.
        train_dataset=Dataset.from_dict({"anchor": ["a", "b"], "positive": ["a", "b"]}),
        loss=MultipleNegativesRankingLoss(model, scale=_SCALES[similarity], similarity_fct=compare),
        callbacks=[_watch(folder, aside, report, last)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _kind(pairs: Pairs, steps: int, last: dict[str, float]) -> Any:
    """Return the class of the trainer, which is defined here since its base loads torch."""
    import torch
    from sentence_transformers import SentenceTransformerTrainer
    from torch.utils.data import DataLoader

    class Trainer(SentenceTransformerTrainer):
        def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
            """Do nothing, since the model card's sampler would draw random numbers."""

        def get_train_dataloader(self) -> Any:
            batches = _batches(self, pairs, steps)
            # Without its own generator, a loader would draw from the random numbers for dropout,
            # again whenever it resumes.
            return DataLoader(batches, batch_size=None, generator=torch.Generator())

        def compute_loss(self, *given: Any, **named: Any) -> Any:
            loss = super().compute_loss(*given, **named)
            last["loss"] = float((loss[0] if isinstance(loss, tuple) else loss).detach())
            return loss

    return Trainer


def _arguments(how: Fit, aside: Path, *, use_cpu: bool) -> Any:
    """Return the arguments of the trainer."""
    from sentence_transformers import SentenceTransformerTrainingArguments

    return SentenceTransformerTrainingArguments(
        output_dir=str(aside),
        max_steps=how.steps,
        learning_rate=how.lr,
        warmup_steps=how.warmup,
        weight_decay=how.weight_decay,
        seed=how.seed,
        # The batches after a checkpoint are determined by the number of the step.
        ignore_data_skip=True,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=use_cpu,
        dataloader_pin_memory=False,
    )


def _batches(trainer: Any, pairs: Pairs, steps: int) -> Any:
    """Return the batches of the remaining steps as a dataset."""
    from torch.utils.data import IterableDataset

    class Batches(IterableDataset[Any]):
        def __len__(self) -> int:
            return steps

        def __iter__(self) -> Iterator[Any]:
            # The state is read here because a resumed trainer replaces it when training begins.
            for step in range(trainer.state.global_step, steps):
                rows = [{"anchor": text, "positive": found} for text, found in pairs(step)]
                yield trainer.data_collator(rows)

    return Batches()


def _watch(folder: Path, aside: Path, report: Report, last: dict[str, float]) -> "TrainerCallback":
    """Return a callback that reports every step and regularly writes an atomic checkpoint."""
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        saved = time.monotonic()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            report(state.global_step, state.max_steps, last)
            due = time.monotonic() - self.saved >= CHECKPOINT_SECONDS
            control.should_save = due and state.global_step < state.max_steps

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            _keep(aside / f"checkpoint-{state.global_step}", folder)
            self.saved = time.monotonic()

    return Watch()


def _keep(written: Path, folder: Path) -> None:
    """Flush a checkpoint to the disk, rename it into `folder`, and remove older ones."""
    older = [*folder.glob("checkpoint-*")]
    for file in written.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
    written.rename(folder / written.name)
    sync_folder(folder)
    for checkpoint in older:
        shutil.rmtree(checkpoint, ignore_errors=True)


def _newest(folder: Path) -> Path | None:
    """Return the last checkpoint; a partially removed one is always older."""
    found = folder.glob("checkpoint-*")
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

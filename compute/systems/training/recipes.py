"""The interface of a recipe: a resumable training, its material, and the resulting system."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.store.store import Part
from compute.systems.checkpoints import Checkpoint
from compute.systems.searcher import Parametrised, Searcher

Report = Callable[[int, int, Mapping[str, float]], None]
"""Receives (step, total, losses by name) after every step, from 1; the total may change."""

MODEL = "model"
"""Name of the finished model's folder inside that of a training."""


@dataclass(frozen=True)
class Material:
    """Training material: parts of the store, under names chosen by the recipe."""

    fingerprint: str
    parts: Mapping[str, Part]
    about: Mapping[str, Any]
    """Options that select or change examples, as JSON values."""

    def path(self, name: str) -> Path:
        """Return the file of one part."""
        return self.parts[name].path


def material(about: Mapping[str, Any], **parts: Part) -> Material:
    """Make the material from these parts; `about` describes how examples are made."""
    content = {name: part.fingerprint for name, part in parts.items()}
    called = fingerprint("material", [], about=dict(about), parts=content)
    return Material(called, parts, dict(about))


class Recipe(Parametrised, Protocol):
    """A method that trains a model and defines its searcher."""

    SEARCH: ClassVar[tuple[str, ...]]
    """Additional parameters of its searcher that a name may set; they do not change the model."""

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Return the datasets whose judgements, or other training pairs, its model has seen."""
        ...

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train, and leave the model in `folder / MODEL`; returns facts about it, as JSON values.
        If `folder` was left by an interrupted call, training resumes from its last checkpoint,
        which contains the states of optimiser, sampler and random numbers, and results in the same
        model."""
        ...

    def system(self, model: Checkpoint) -> Searcher:
        """Return the searcher of the trained model; `model.folder()` gives its folder on demand."""
        ...

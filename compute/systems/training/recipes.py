"""Interface of a recipe: a resumable training, its material, and a system."""

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
"""The folder of the finished model inside that of a training."""


@dataclass(frozen=True)
class Material:
    """Training material, as parts of the store with names chosen by the recipe."""

    fingerprint: str
    parts: Mapping[str, Part]
    about: Mapping[str, Any]
    """Options that select or change examples, as JSON values."""

    def path(self, name: str) -> Path:
        """The file of one part."""
        return self.parts[name].path


def material(about: Mapping[str, Any], **parts: Part) -> Material:
    """The material from these parts; `about` describes how examples are made."""
    content = {name: part.fingerprint for name, part in parts.items()}
    called = fingerprint("material", [], about=dict(about), parts=content)
    return Material(called, parts, dict(about))


class Recipe(Parametrised, Protocol):
    """Method that trains a model and defines its searcher."""

    SEARCH: ClassVar[tuple[str, ...]]
    """Additional parameters of its searcher that a name may set: they change no model."""

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Datasets whose judgements, or other training pairs, its model has seen."""
        ...

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train, and leave the model in `folder / MODEL`; returns facts about it, as JSON values.
        `folder` is empty or was left by an interrupted call: then training resumes from its last
        checkpoint, which contains optimiser, sampler and random state, and reaches the same
        model."""
        ...

    def system(self, model: Checkpoint) -> Searcher:
        """Searcher of the trained model; `model.folder()` returns its folder on demand."""
        ...

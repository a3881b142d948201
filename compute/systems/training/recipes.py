"""Interface of a recipe: a training that can be interrupted, its material, and a system."""

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
"""Told (step, total, losses by name) after every step, from 1; the total may change."""

MODEL = "model"
"""The folder, in that of a training, where the finished model is left."""


@dataclass(frozen=True)
class Material:
    """Training material, as parts of the store by names that the recipe chooses."""

    fingerprint: str
    parts: Mapping[str, Part]
    about: Mapping[str, Any]
    """Options that choose or change examples, as JSON values."""

    def path(self, name: str) -> Path:
        """The file of one part."""
        return self.parts[name].path


def material(about: Mapping[str, Any], **parts: Part) -> Material:
    """The material of these parts, of which examples are made as `about` says."""
    content = {name: part.fingerprint for name, part in parts.items()}
    called = fingerprint("material", [], about=dict(about), parts=content)
    return Material(called, parts, dict(about))


class Recipe(Parametrised, Protocol):
    """Method that trains a model, with which a searcher then searches."""

    SEARCH: ClassVar[tuple[str, ...]]
    """Parameters of its searcher that a name may set besides: they change no model."""

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Collections whose judgements, or other training pairs, its model knows."""
        ...

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train, and leave the model in `folder / MODEL`; facts about it, as JSON values.

        `folder` is empty, or what an interrupted call left: then it resumes from its last
        checkpoint, which holds optimiser, sampler and random state, and comes to the same model.
        """
        ...

    def system(self, model: Checkpoint) -> Searcher:
        """Searcher of the trained model. `model.folder()` is its folder, when it is needed."""
        ...

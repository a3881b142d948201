"""Training of one system: load the material, train, publish the model and the losses together."""

import json
import shutil
from dataclasses import dataclass, replace
from typing import Any

from compute.base.errors import WrongInput
from compute.base.locks import locked
from compute.base.result_identity import fingerprint
from compute.datasets import Dataset
from compute.recompute import efficiency, training_material
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.store import Part
from compute.systems import SYSTEMS, System, names, system, trained
from compute.systems.training import losses
from compute.systems.training.recipes import MODEL, Material, Recipe


@dataclass(frozen=True)
class Trained:
    """The outcome of a training."""

    model: Part
    losses: Part
    new: bool


def named(text: str, dataset: str) -> System:
    """Return the system that a recipe makes from a dataset, such as `genq[scifact](seed=1)`. Raises
    WrongInput if the system is not trained, or if `text` names another dataset."""
    read = names.parse(text)
    row = SYSTEMS.get(read.base)
    if row is None or row.recipe is None:
        known = ", ".join(name for name, row in SYSTEMS.items() if row.recipe)
        raise WrongInput(f"{read.base} cannot be trained here; these can: {known}")
    if read.trained_on not in ("", dataset):
        raise WrongInput(f"{read} is trained on {read.trained_on}, not on {dataset}: name one")
    return system(str(replace(read, trained_on=dataset)))


def train(bench: Bench, row: System, dataset: Dataset, *, again: bool = False) -> Trained:
    """Train the system that `named` returned and publish its model; do nothing if it is stored,
    unless `again`. An interrupted training resumes at its last checkpoint. Raises Unavailable,
    before anything is done, if something is missing."""
    recipe = row.recipe
    assert recipe is not None
    recipe.check()
    material = training_material.load(recipe, bench, dataset)
    name = model_name(row)
    made = fingerprint("recipe", [material.fingerprint], identity=recipe.identity())
    place = losses.folder(bench.settings, made)
    with locked(bench.settings.home / "locks" / f"training-{made}.lock"):
        stored = _stored(bench, dataset, name, made)
        if stored and not (again and stored.model.job != (bench.job or None)):
            return stored
        losses.begin(place, {"system": name, "dataset": dataset.name})
        curve = losses.Curve(place, bench.progress)
        with efficiency.watched() as cost:
            facts = recipe.train(material, place, bench.settings, curve)
        about = _about(bench, recipe, made, material, facts)
        about |= {"train_seconds": round(curve.seconds, 3), "peak_memory_bytes": cost.peak_bytes}
        done = _publish(bench, dataset, name, place, about)
        shutil.rmtree(place)
    return done


def model_name(row: System) -> str:
    """Return the name of a trained system without the parameters that affect only its search."""
    read = names.parse(row.name)
    assert row.recipe is not None
    kept = [(name, value) for name, value in read.parameters if name not in row.recipe.SEARCH]
    return str(replace(read, parameters=tuple(kept)))


def _stored(bench: Bench, dataset: Dataset, name: str, made: str) -> Trained | None:
    """Return the stored model and losses of this recipe; None if there are none."""
    model = bench.store.part("model", dataset.name, name)
    curve = bench.store.part("training", dataset.name, name)
    if model is None or curve is None or model.provenance["made_of"] != made:
        return None
    return Trained(model, curve, new=False)


def _about(
    bench: Bench, recipe: Recipe, made: str, material: Material, facts: dict[str, Any]
) -> dict[str, Any]:
    """Return the provenance of a model."""
    return {
        "made_of": made,
        "recipe": recipe.identity(),
        "material": {name: part.fingerprint for name, part in material.parts.items()},
        "threads": bench.settings.threads,
        "facts": json.loads(json.dumps(facts, allow_nan=False)),
    }


def _publish(
    bench: Bench, dataset: Dataset, name: str, place: Any, about: dict[str, Any]
) -> Trained:
    """Publish the model in a folder, with its losses."""
    content = trained.content_hash(place / MODEL)
    curve = losses.frame(losses.rows(place))
    read = names.parse(name)
    words = ["train", str(names.Name(read.base, parameters=read.parameters)), dataset.name]
    record = provenance.record(words, about["train_seconds"], content=content, **about)
    with bench.store.publishing(bench.job or f"train {name}") as publication:
        called = fingerprint("model", [about["made_of"]], content=content)
        of = {"dataset": dataset.name, "system": name, "provenance": record}
        model = publication.add("model", trained.packed(place / MODEL), fingerprint=called, **of)
        kept = curve[["step", "name", "value"]]
        losses_ = publication.add(
            "training", kept, fingerprint=fingerprint("training", [called]), **of
        )
    return Trained(model, losses_, new=True)

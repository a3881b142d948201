"""The training material of each recipe: parts of the store, loaded or computed first if missing. A
recipe knows neither datasets nor runs; this module chooses those from which it learns."""

from functools import singledispatch

from compute.base.errors import WrongInput
from compute.datasets import DATASETS, Dataset
from compute.recompute import generated_queries, run
from compute.store import loading
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Part
from compute.systems import system
from compute.systems.augmented.recipe import Augmentation
from compute.systems.training.genq import JUDGED, T5, GenQ
from compute.systems.training.ict import Ict
from compute.systems.training.recipes import Material, Recipe, material

HARD_FROM = 100
"""Hard negatives come from this many top documents of BM25, if not judged relevant."""


@singledispatch
def load(recipe: Recipe, bench: Bench, dataset: Dataset) -> Material:
    """Return the training material of a recipe. Raises WrongInput for a dataset without any."""
    raise NotImplementedError(f"nothing says what {type(recipe).__name__} is trained on")


@load.register
def _(recipe: GenQ, bench: Bench, dataset: Dataset) -> Material:
    """Use the documents, and queries that T5 generates or the judged queries of the train split."""
    if recipe.queries == JUDGED:
        row = split(bench, dataset, "train") or dataset
        loaded, documents = stored_documents(bench, row)
        judged = {"queries": loaded.queries, "judgements": loaded.judgements}
        return material({"queries": JUDGED}, documents=documents, **judged)
    loaded, documents = stored_documents(bench, dataset)
    about = {"queries": recipe.queries, "documents": recipe.documents}
    about["language"] = dataset.language
    if recipe.queries != T5:
        return material(about, documents=documents)
    asked = generated_queries.part(bench, loaded, recipe.generator, most=recipe.documents)
    return material(about, documents=documents, generated=asked)


@load.register
def _(recipe: Ict, bench: Bench, dataset: Dataset) -> Material:
    """Use the documents; their language determines the rule for sentence boundaries."""
    _, documents = stored_documents(bench, dataset)
    return material({"language": dataset.language}, documents=documents)


@load.register
def _(recipe: Augmentation, bench: Bench, dataset: Dataset) -> Material:
    """Use the train split (or else the dataset) with BM25's hits; the dev split is held out."""
    train = split(bench, dataset, "train") or dataset
    searched = system(f"bm25-wordpiece(k1={recipe.k1},b={recipe.b})")
    hits = run.run(bench, searched, train).hits
    loaded = loading.load(bench, train)
    assert loaded.documents is not None
    parts = {"documents": loaded.documents, "queries": loaded.queries, "hits": hits}
    parts |= {"judgements": loaded.judgements}
    if (dev := split(bench, dataset, "dev")) is not None and dev.name != dataset.name:
        held = loading.load(bench, dev)
        parts |= {"held_out_queries": held.queries, "held_out_judgements": held.judgements}
    return material({"hard_from": HARD_FROM}, **parts)


def split(bench: Bench, dataset: Dataset, name: str) -> Dataset | None:
    """Return another split of the dataset; None if there is none."""
    known = {**DATASETS, **own_datasets(bench.store)}
    return known.get(f"{dataset.collection}/{name}")


def stored_documents(bench: Bench, dataset: Dataset) -> tuple[loading.Loaded, Part]:
    """Return the loaded dataset, and its documents. Raises WrongInput if it has none."""
    loaded = loading.load(bench, dataset)
    if loaded.documents is None:
        raise WrongInput(f"{dataset.name} has no documents: there is nothing to train on")
    return loaded, loaded.documents

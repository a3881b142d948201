"""What recipes are trained on."""

import shutil
from pathlib import Path

import pytest

from compute.intake import imports
from compute.recompute import training_material
from compute.systems import SYSTEMS
from compute.systems.augmented.recipe import Augmentation
from tests.support import filled


def test_every_recipe_of_the_catalogue_says_what_it_is_trained_on() -> None:
    recipes = [row.recipe for row in SYSTEMS.values() if row.recipe]
    assert recipes
    unknown = training_material.load.dispatch(object)
    assert [one for one in recipes if training_material.load.dispatch(type(one)) is unknown] == []


@pytest.mark.long
def test_augmentation_learns_from_the_train_split_or_else_from_the_dataset_itself(
    tmp_path: Path,
) -> None:
    bench = filled.bench(tmp_path)
    tiny = filled.take(bench, {})
    found = training_material.load(Augmentation(), bench, tiny).parts
    assert found["judgements"].dataset == found["hits"].dataset == "tiny"
    folder = bench.settings.home.parent / "tiny"
    shutil.copy(folder / "qrels" / "test.tsv", folder / "qrels" / "train.tsv")
    imports.import_dataset(bench, "tiny/train", path=folder)
    found = training_material.load(Augmentation(), bench, tiny).parts
    assert found["judgements"].dataset == "tiny/train"

"""What recipes are trained on."""

from compute.recompute import training_material
from compute.systems import SYSTEMS


def test_every_recipe_of_the_catalogue_says_what_it_is_trained_on() -> None:
    recipes = [row.recipe for row in SYSTEMS.values() if row.recipe]
    assert recipes
    unknown = training_material.load.dispatch(object)
    assert [one for one in recipes if training_material.load.dispatch(type(one)) is unknown] == []

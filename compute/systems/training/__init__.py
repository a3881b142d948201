"""Training: systems that are a recipe and not a checkpoint, and the models made by it.

A recipe (`recipes.Recipe`) says what it is trained on, trains, and says how its model searches.
`work.train` does it: the finished model is a part of the store, its losses another. A model under
way lies in `training/` of the home folder, from where an interrupted training goes on.
`genq[scifact]` names the system that recipe genq makes of scifact.
"""

# The catalogue of systems names the recipes: it is loaded before any of them.
import compute.systems  # noqa: F401 (see above)

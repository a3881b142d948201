"""Training: systems that are a recipe and not a checkpoint, and the models made by it.

A recipe (`recipes.Recipe`) trains, and says how its model searches; what it is trained on is said
in `compute.recompute.training_material`. `compute.recompute.training` does it: the finished model
is a part of the store, its losses another. A model under way lies in `training/` of the home
folder, from where an interrupted training resumes. `genq[scifact]` names the system that recipe
genq makes of scifact.
"""

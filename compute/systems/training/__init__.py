"""Training: systems that are recipes instead of checkpoints, and the models that recipes make. A
recipe (`recipes.Recipe`) trains a model and defines its search;
`compute.recompute.training_material` defines its training data, and `compute.recompute.training`
runs it. The finished model is a part of the store, and its losses are another. An unfinished model
is in `training/` of the home folder, where an interrupted training resumes. `genq[scifact]` names
the system that the recipe genq makes from scifact."""

"""Training: systems that are recipes, not checkpoints, and the models they make. A recipe
(`recipes.Recipe`) trains a model and defines its search; `compute.recompute.training_material`
defines its training data. `compute.recompute.training` runs it: the finished model is a part of the
store, its losses another. An unfinished model is in `training/` of the home folder, from where an
interrupted training resumes. `genq[scifact]` names the system that recipe genq makes of scifact."""

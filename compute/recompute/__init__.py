"""A system on a dataset becomes a published run."""

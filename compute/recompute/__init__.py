"""Recomputing: from a system and a dataset to a published run."""

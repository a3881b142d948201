"""Computes scores, possible ranges, tests and rank intervals from runs and judgements."""

"""How often intervals hold what they should and verdicts err, on queries like real ones."""

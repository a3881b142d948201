"""From runs and judgements to numbers: measures, holes, tests, intervals of ranks."""

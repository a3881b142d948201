"""Numbers from runs and judgements: measures, unjudged documents, tests, rank intervals."""

"""Numbers from runs and judgements: measures, unjudged documents, tests and rank intervals."""

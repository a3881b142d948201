"""Estimates of scores from judgements of pairs with known inclusion probabilities. `frames` defines
the pairs that can be drawn, `prediction` predicts their grades from the runs, `corrected` corrects
the predictions by the sample, `linearised` writes a measure as a sum over pairs, `completed` does
so for nDCG averaged over completions of the grades, and `intervals` estimates scores, differences
between two systems, and the ranking. `label_errors` and `label_order` estimate errors in labels and
their effect on the ranking. `tuning` estimates a score with a parameter chosen on the same
queries."""

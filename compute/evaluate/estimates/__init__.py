"""Estimates of scores from judgements of pairs with known inclusion probabilities.

`frames` defines the pairs that can be drawn, `prediction` predicts their grades from the runs,
`corrected` corrects the predictions by the sample, `linearised` writes a measure as a sum over
pairs, and `intervals` estimates systems, differences between two systems, and their order. `tuning`
estimates a score whose parameter was chosen on the same queries.
"""

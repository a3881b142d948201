"""Estimates of scores from judgements of pairs with known inclusion probabilities.

`frames` says which pairs can be drawn, `prediction` predicts their grades from the runs,
`corrected` corrects that by the sample, `linearised` makes a measure a sum over pairs, and
`intervals` gives estimates of systems, of pairs of them and of their order.
"""

"""What a score is, estimated from judgements of pairs that were drawn with known chances.

`frames` says which pairs can be drawn, `prediction` predicts their grades from the runs,
`corrected` corrects that by the sample, `linearised` makes a measure a sum over pairs, and
`intervals` gives estimates of systems, of pairs of them and of their order.
"""

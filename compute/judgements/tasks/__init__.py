"""Annotation: tasks of unjudged pairs, the queue that hands them out, the guideline beside them.

A task fixes its pairs when it is made; one whose order learns from judgements reorders the
unseen ones (`adaptive_order`). The form asks the queue for pairs, ahead of time, and
sends answers back; each judgement becomes a row of the added judgements.
"""

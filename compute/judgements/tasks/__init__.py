"""Annotation: tasks of unjudged pairs, the queue that assigns them to people, and their guideline.
A task's pairs are fixed when it is created; if its order learns from judgements, pairs that nobody
has seen are reordered (`adaptive_order`). The form requests pairs from the queue in advance and
sends answers back; each judgement becomes a row of the added judgements."""

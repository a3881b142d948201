"""Annotation: tasks of unjudged pairs, the queue that hands them out, and their guideline. A task
fixes its pairs when it is made; one whose order learns from judgements reorders the unseen ones
(`adaptive_order`). The form requests pairs from the queue in advance, and sends answers back; each
judgement becomes a row of the added judgements."""

"""Annotation: tasks of unjudged pairs, the queue that hands them out, and their guideline. A task's
pairs are fixed when it is created; a task whose order learns from judgements reorders unseen pairs
(`adaptive_order`). The form requests pairs from the queue in advance, and sends answers back; each
judgement becomes a row of the added judgements."""

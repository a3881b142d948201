"""From a dataset to a page, one module per station.

`datasets` reads a collection: documents, queries, judgements. `systems` search it and
give back hits. `runs` ranks those hits once, canonically: the *run*. `measures` holds
a run against judgements: scores per query. `store` keeps all of it as immutable parts
and publishes a job's parts in one transaction. `reading` opens one published version
in memory; `queries` asks it; `figures` draw the answers; pages show the figures. `judgements`
that people add meet the official ones in `overlay`, which scores what they move again.
`recompute` walks a dataset and a system through these stations; `jobs` has workers do so
in the background. A station knows only the one before it, and nothing here knows
Streamlit.
"""

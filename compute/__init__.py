"""The code behind the pages, in rooms. Each imports only rooms above it in this list.

- `base`: settings, errors, identity, locks, files; the foundation of the others
- `datasets`: datasets, and their file formats
- `store`: immutable parts, and the manifest that makes them visible
- `evaluate`: scores, tests and possible ranges from runs and judgements
- `judgements`: added judgements, and judging tasks
- `corpora`: counts of texts: lengths, words, similarity of corpora
- `systems`: retrieval systems: lexical, neural, combined, trained
- `reading`: one published version, open for queries; scores with added judgements
- `recompute`: a system on a dataset becomes a published run
- `intake`: files from outside: checked, imported, fetched
- `jobs`: computations in the background; backups
- `views`: a folder for each page: its SELECTs, its arithmetic, its figures
- `exports`: exported figures, tables, runs, snapshots and sites
- `commands`: the command line, under `__main__`

No module here imports Streamlit. `ARCHITECTURE.md` follows a score, a judgement and a bigram
through these rooms, function by function.
"""

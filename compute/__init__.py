"""Everything behind the pages, in rooms. Each imports only rooms above it in this list.

- `base`: settings, errors, identity, locks, files; what all others stand on
- `datasets`: collections, and the files they come in
- `store`: immutable parts, and the manifest that makes them visible
- `evaluate`: runs and judgements into scores, tests and ranges
- `judgements`: what people add to the official judgements, and the tasks in which they do
- `corpora`: texts into counts: lengths, words, similarity of corpora
- `systems`: what searches
- `reading`: one published version, open for questions; added judgements counted in
- `recompute`: a system on a dataset becomes a published run
- `intake`: files from outside: checked, imported, fetched
- `jobs`: recomputes in the background
- `views`: a folder for each page: its SELECTs, its arithmetic, its figures
- `exports`: figures, tables, runs and snapshots that leave
- `commands`: the command line, under `__main__`

Nothing here knows Streamlit. `ARCHITECTURE.md` follows a score, a judgement and a bigram through
these rooms, function by function.
"""

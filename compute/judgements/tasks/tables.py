"""The tables of annotation in the state; `compute/store/migrations.py` creates them."""

from sqlalchemy import BigInteger, Column, Double, Table, Text

from compute.store.state import metadata, texts

tasks = Table(
    "annotation_tasks",
    metadata,
    Column("id", Text, primary_key=True),
    *texts("title", "dataset"),
    Column("systems", Text, nullable=False),  # JSON list; for a sampled task, of its last batch
    Column("depth", BigInteger, nullable=False),
    Column("n_pairs", BigInteger, nullable=False),
    Column("ordering", Text, nullable=False),  # one of `compute.judgements.orders.NAMES`
    Column("seed", BigInteger, nullable=False),
    Column("grades", Text, nullable=False),  # JSON list of [relevance, name], ascending
    Column("annotators", Text, nullable=False),  # JSON list of names; if empty, anyone
    Column("double_share", Double, nullable=False),  # share of pairs that two people judge, 0 to 1
    Column("person", Text, nullable=False),  # its author
    Column("created", Text, nullable=False),
    Column("measure", Text, nullable=False, default=""),  # to be estimated, for a sampled task
    Column("goal", Text, nullable=False, default=""),  # one of `sampling.GOALS`
    Column("baseline", Text, nullable=False, default=""),  # a system; empty except for differences
)
batches = Table(
    "annotation_batches",
    metadata,
    Column("task", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("frame", Text, nullable=False),  # identity of the sampling frame
    Column("manifest", BigInteger, nullable=False),  # the store's version when it was drawn
    Column("last_judgement", BigInteger, nullable=False),  # id of the newest one at that time
    Column("seed", BigInteger, nullable=False),
    Column("predictor", Text, nullable=False),  # version of the prediction
    Column("done", BigInteger, nullable=False),  # number of pairs of earlier batches
    Column("created", Text, nullable=False),
    Column("systems", Text, nullable=False),  # JSON list: those of the frame
)
draws = Table(
    "annotation_draws",
    metadata,
    Column("task", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),
    Column("place", BigInteger, primary_key=True, autoincrement=False),  # from 1
    *texts("query_id", "doc_id"),
    Column("size", Double, nullable=False),
    Column("priority", Double, nullable=False),  # descending; 0 if it could not be drawn
)
guidelines = Table(
    "annotation_guidelines",
    metadata,
    Column("task", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("text", Text, nullable=False),  # Markdown
    *texts("person", "created"),
)
pairs = Table(
    "annotation_pairs",
    metadata,
    Column("id", Text, primary_key=True),  # reveals neither query, document nor place
    Column("task", Text, nullable=False),
    Column("place", BigInteger, nullable=False),  # from 1, in the task's order
    *texts("query_id", "doc_id"),
    Column("labels", BigInteger, nullable=False),  # number of people who are to judge it
)
turns = Table(
    "annotation_turns",
    metadata,
    Column("pair", Text, primary_key=True),
    Column("person", Text, primary_key=True),
    Column("task", Text, nullable=False),
    Column("status", Text, nullable=False),  # held, judged or skipped
    Column("until", Text, nullable=False),  # time at which a held pair is released
    Column("seconds", Double),  # from display to answer; null while held
    Column("changed", Text, nullable=False),
    Column("number", BigInteger, nullable=False, default=0),  # order of one's answers in a task
)

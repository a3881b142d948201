"""The tables of annotation in the state; `compute/store/migrations.py` creates them."""

from sqlalchemy import BigInteger, Column, Double, Table, Text

from compute.store.state import metadata, texts

tasks = Table(
    "annotation_tasks",
    metadata,
    Column("id", Text, primary_key=True),
    *texts("title", "dataset"),
    Column("systems", Text, nullable=False),  # JSON, by name; for a sampled task, of its last batch
    Column("depth", BigInteger, nullable=False),
    Column("n_pairs", BigInteger, nullable=False),
    Column("ordering", Text, nullable=False),  # a name of `compute.judgements.orders`
    Column("seed", BigInteger, nullable=False),
    Column("grades", Text, nullable=False),  # JSON, [relevance, name], ascending
    Column("annotators", Text, nullable=False),  # JSON, names; none: anybody
    Column("double_share", Double, nullable=False),  # of the pairs, 0 to 1
    Column("person", Text, nullable=False),  # who made it
    Column("created", Text, nullable=False),
    Column("measure", Text, nullable=False, default=""),  # of a sampled task: what is estimated
    Column("goal", Text, nullable=False, default=""),  # a name of `sampling.GOALS`
    Column("baseline", Text, nullable=False, default=""),  # a system; empty but for differences
)
batches = Table(
    "annotation_batches",
    metadata,
    Column("task", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("frame", Text, nullable=False),  # the identity of what could be drawn
    Column("manifest", BigInteger, nullable=False),  # the store's version when it was drawn
    Column("last_judgement", BigInteger, nullable=False),  # the newest one then
    Column("seed", BigInteger, nullable=False),
    Column("predictor", Text, nullable=False),  # version of the prediction it was drawn by
    Column("done", BigInteger, nullable=False),  # pairs of the batches before it
    Column("created", Text, nullable=False),
    Column("systems", Text, nullable=False),  # JSON, by name: whose lists the frame is made of
)
draws = Table(
    "annotation_draws",
    metadata,
    Column("task", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),
    Column("place", BigInteger, primary_key=True, autoincrement=False),  # from 1
    *texts("query_id", "doc_id"),
    Column("size", Double, nullable=False),
    Column("priority", Double, nullable=False),  # falling; 0 for what could not be drawn
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
    Column("id", Text, primary_key=True),  # says nothing of query, document or place
    Column("task", Text, nullable=False),
    Column("place", BigInteger, nullable=False),  # from 1, in the task's order
    *texts("query_id", "doc_id"),
    Column("labels", BigInteger, nullable=False),  # how many people are to judge it
)
turns = Table(
    "annotation_turns",
    metadata,
    Column("pair", Text, primary_key=True),
    Column("person", Text, primary_key=True),
    Column("task", Text, nullable=False),
    Column("status", Text, nullable=False),  # held, judged or skipped
    Column("until", Text, nullable=False),  # when a held pair goes back
    Column("seconds", Double),  # from its first sight to the answer; null while held
    Column("changed", Text, nullable=False),
    Column("number", BigInteger, nullable=False, default=0),  # of a person's answers in a task
)

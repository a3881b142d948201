"""The words that options may take, as far as a table of a room defines them.

They are written out once more, for the rooms load pandas, and who asks for help or mistypes a
command waits for none of it; `tests/commands/test_starting.py` holds them equal.
"""

from compute.exports import named

KINDS = ("run", "score", "demo", "overlap", "lengths", "fetch", "train")
"""Jobs, in `compute.jobs.kinds`."""
RULES = ("majority", "latest", "lowest", "highest", "mean")
SOURCES = ("person", "adjudication", "import", "model")
HUMAN = ("person", "adjudication")
"""Of added judgements, in `compute.judgements.labels`."""
FORMATS = ("qrels", "beir", "csv", "json")
RUN_FORMATS = ("beir", "mteb", "golden")
"""Files of added judgements, in `compute.judgements.exchange`."""
SHOWN = {
    "scores": "show.stored.scores",
    "holes": "show.holes.holes",
    "power": "show.power.power",
    "estimates": "show.estimates.estimates",
    "overlap": "analysing.overlaps",
    "lengths": "analysing.lengths_shown",
    "efficiency": "efficiency.shown",
    "sets": "show.sets.sets",
    "leakage": "leakage.shown",
    "versions": "show.versions.versions",
    "jobs": "jobs.jobs_shown",
}
"""What `show` prints of the store, and what makes a frame of it, as `commands.named` takes it."""
OFFICIAL, ADDED = ("official", "added")
"""What `show --judgements` takes besides other sets, in the words that addresses of pages have."""
EXPORTED = ("figure", "figures", "table", "view", "run", "site")
"""What `export` writes."""
EXPORTS = "figures: {}; tables: {}".format(", ".join(named.FIGURES), ", ".join(named.TABLES))
"""What it may be told to write by name."""

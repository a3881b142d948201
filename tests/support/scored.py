"""Generated runs published with every measure, and judgements added to them."""

from pandas import DataFrame

from compute.evaluate.measures import evaluate
from compute.evaluate.runs import canonical
from compute.store.store import Store, top
from tests.support import worlds
from tests.support.oracles import BIASED, CUTS, ORACLE, WHOLE

DEPTH = 10
RANK_BIASED = [f"{name}({of})" for name in ("RBP", "RBP_residual") for of in BIASED]
NAMES = [*ORACLE, "RR", "Judged", "Hole", "R_cap", "R_full", "Hole_beir", *RANK_BIASED]
FROM_2 = ["AP(rel=2)@3", "R_cap(rel=2)@2", "Bpref(rel=2)", "nDCG(dcg=exp-log2)@5"]
MEASURES = [*WHOLE, *FROM_2, *RANK_BIASED, *(f"{name}@{k}" for name in NAMES for k in CUTS)]


def added(rows: list[tuple], dataset: str = "scifact") -> DataFrame:
    """Rows for `Store.add_judgements` from query_id, doc_id, relevance, person, source and, if
    need be, the time and the task; what has a time came from a file."""
    columns = ["query_id", "doc_id", "relevance", "person", "source", "time", "task"]
    frame = DataFrame([(*row, *(None, "")[len(row) - 5 :]) for row in rows], columns=columns)
    frame = frame.astype({"relevance": "Int64"})
    frame["imported"] = frame["time"]
    return frame.assign(dataset=dataset, guideline_version="", entry=None, takes_back=None)


def publish(
    store: Store,
    dataset: str,
    judgements: DataFrame,
    lists: dict[str, DataFrame],
    *,
    depth: int = DEPTH,
    cut: int | None = None,
) -> None:
    """A dataset of all queries, its judgements, and the hits of systems with their scores."""
    asked = DataFrame({"query_id": worlds.QUERIES, "text": "", "n_words": 0})
    with store.publishing(f"make {dataset}") as parts:
        for kind, content in (("queries", asked), ("judgements", judgements)):
            parts.add(kind, content, dataset=dataset, fingerprint="f", provenance={})
        for system, found in lists.items():
            run = canonical(found, depth=depth, drop_self=False).frame
            scores = evaluate(run, judgements, MEASURES, depth=depth)
            kept = run[run["rank"] <= (cut or depth)]
            about = {"depth": depth} | ({"cut": cut} if cut else {})
            for kind, content in (("hits", kept), ("top", top(run)), ("scores", scores)):
                parts.add(
                    kind, content, dataset=dataset, system=system, fingerprint="f", provenance=about
                )

"""What is stored and under way, counted."""

from pathlib import Path

import pandas as pd
import pytest

from compute import jobs
from compute.jobs.totals import totals
from tests.support.processes.jobbing import tiny_home

JUDGED = pd.DataFrame({"dataset": "tiny", "query_id": ["q1", "q2", "q3"], "doc_id": "d1"})
ABOUT = {"relevance": 1, "person": "ada", "task": "", "guideline_version": ""}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_everything_is_counted_and_nothing_is_named(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres") if kind == "postgres" else ""
    store = tiny_home(tmp_path, state=address)
    assert totals(store).jobs == {}
    jobs.start(store, "run", ["bm25"], ["tiny"])
    jobs.start(store, "overlap", (), ["tiny"])
    store.add_judgements(JUDGED.assign(**ABOUT, source=["person", "import", "a strange one"]))
    (documents,) = store.parts("documents")
    documents.path.write_bytes(b"cut")
    now = totals(store)
    assert now.jobs == {("job", "run", "queued"): 1, ("job", "overlap", "queued"): 1}
    assert 0 <= now.longest_wait < 60
    assert now.workers == 0
    assert now.judgements == {"person": 1, "import": 1, "other": 1}
    assert now.parts["documents"] == 1
    assert now.part_bytes["documents"] == documents.bytes
    assert {name for name, number in now.damaged_parts.items() if number} == {"documents"}

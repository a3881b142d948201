import json

import pytest

from compute.__main__ import main
from compute.systems import DOCUMENTED, REFERENCE, SYSTEMS

PUBLISHED = "published figures only"


def test_every_system_of_the_papers_says_what_it_was_verified_against(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", "systems", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    papers = [row for row in rows if row["in_papers"]]
    assert len(papers) == 31
    for row in papers:
        known = SYSTEMS[row["system"]]
        runs = known.search is not None or known.recipe is not None
        assert runs == (known.name not in ("gar-bm25", "seal"))
        assert row["verified"] in ((DOCUMENTED, REFERENCE) if runs else (PUBLISHED,))


def test_a_table_fits_a_terminal_and_is_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systems"]) == 0
    *table, summary = capsys.readouterr().out.splitlines()
    assert max(map(len, table)) <= 120
    assert summary.startswith("31 systems of the papers: ")
    bm25 = next(line for line in table if line.split()[0] == "bm25")
    assert bm25.endswith(" runs")

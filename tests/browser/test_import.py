"""Runs of TREC-COVID round 1 through the page Data in one go, in a real browser."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

from compute.base.settings import Settings
from compute.recompute import run
from compute.store.store import Store
from tests.support.acting import go, settled
from tests.support.processes.dashboards import port, serving

FILES = "input[type=file]"


@pytest.fixture(scope="module")
def reference() -> Path:
    if not (folder := os.environ.get("BEIRSCOPE_REFERENCE")):
        pytest.skip("BEIRSCOPE_REFERENCE is not set: no runs to import")
    return Path(folder) / "runs" / "trec-covid-round1"


@pytest.mark.parametrize("number", [4, pytest.param(14, marks=pytest.mark.soak)])
def test_runs_come_in_through_the_page_with_their_official_scores(
    page: Page, reference: Path, tmp_path: Path, number: int
) -> None:
    broken = tmp_path / "<b>broken.run"
    broken.write_text("1 Q0 d1 1 2.0 broken\n1 Q0 d2 2 nan broken\n", "utf-8")
    runs = [file for file in sorted(reference.glob("*.gz")) if file.name != "qrels.txt.gz"]
    runs = runs[:number]
    assert len(runs) == number
    with serving(tmp_path / "home", port(8760)) as address:
        go(page, f"{address}/data?show=Import&to=A+new+dataset")
        page.locator(FILES).first.set_input_files([reference / "qrels.txt.gz", *runs, broken])
        name = page.get_by_label("Name (letters")
        name.wait_for()
        settled(page)
        name.fill("covid")
        page.get_by_role("button", name="Make the dataset, then choose runs").click()
        page.get_by_text(f"covid is made; now choose its runs: {number}").wait_for()
        page.get_by_text("Imported into covid").wait_for()
        # The runs lie ready still: nobody chooses them again.
        page.get_by_text("Take in").first.wait_for()
        page.get_by_text("Errors and warnings").wait_for()
        settled(page)
        store = Store(Settings(home=tmp_path / "home"))
        assert store.parts("hits", "covid") == []
        page.get_by_role("button", name=re.compile(f"Import {number} runs")).click()
        page.get_by_text(f"{number} imported, 1 refused.").wait_for()
    assert list((tmp_path / "home" / "uploads").iterdir()) == []
    official = pd.read_csv(reference / "official_scores.csv").set_index("run")["ndcg@10"]
    for file in runs:
        name = file.name.removesuffix(".gz")
        (part,) = (p for p in store.parts("hits", "covid") if p.provenance["file"] == file.name)
        scores = run.read(store.parts("scores", "covid", part.system)[0])
        mean = scores[scores["measure"] == "nDCG@10"]["value"].mean()
        assert f"{mean:.4f}" == f"{official[name]:.4f}"

"""Runs of TREC-COVID round 1 through the Data page in one go, in a real browser."""

import os
import zipfile
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


@pytest.mark.long
@pytest.mark.parametrize("number", [2, pytest.param(14, marks=pytest.mark.soak)])
def test_runs_come_in_through_the_page_with_their_official_scores(
    page: Page, reference: Path, tmp_path: Path, number: int
) -> None:
    broken = tmp_path / "<b>broken.run"
    broken.write_text("1 Q0 d1 1 2.0 broken\n1 Q0 d2 2 nan broken\n", "utf-8")
    runs = [file for file in sorted(reference.glob("*.gz")) if file.name != "qrels.txt.gz"]
    runs = runs[:number]
    assert len(runs) == number
    packed = tmp_path / "runs.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in runs[1:]:
            archive.write(file, f"round1/{file.name}")
    with serving(tmp_path / "home", port(8760)) as address:
        go(page, f"{address}/data?show=Import&to=A+new+dataset")
        page.locator(FILES).first.set_input_files(
            [runs[0], packed, reference / "topics.xml", broken, reference / "qrels.txt.gz"]
        )
        name = page.get_by_label("Name (letters")
        name.wait_for()
        settled(page)
        name.fill("covid")
        page.get_by_text("Errors and warnings").wait_for()
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_text("Imported into covid").wait_for()
        page.get_by_text(f"{number} runs imported, 1 refused.").wait_for()
        _refuses_a_taken_name(page, address, reference / "qrels.txt.gz")
        store = Store(Settings(home=tmp_path / "home"))
    assert list((tmp_path / "home" / "uploads").iterdir()) == []
    (queries,) = store.parts("queries", "covid")
    assert run.read(queries)["text"].notna().all()
    official = pd.read_csv(reference / "official_scores.csv").set_index("run")["ndcg@10"]
    for file in runs:
        name = file.name.removesuffix(".gz")
        (part,) = (p for p in store.parts("hits", "covid") if p.provenance["file"] == file.name)
        scores = run.read(store.parts("scores", "covid", part.system)[0])
        mean = scores[scores["measure"] == "nDCG@10"]["value"].mean()
        assert f"{mean:.4f}" == f"{official[name]:.4f}"


def _refuses_a_taken_name(page: Page, address: str, qrels: Path) -> None:
    go(page, f"{address}/data?show=Import&to=A+new+dataset")
    page.locator(FILES).first.set_input_files([qrels])
    name = page.get_by_label("Name (letters")
    name.wait_for()
    settled(page)
    name.fill("covid")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("covid is already stored. Choose another name").wait_for()

"""Slow answers of pages are computed before anybody asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.datasets import dataset
from compute.exports import ahead
from compute.exports.pages import PAGES
from compute.reading import stored_answers
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.page import prepare
from compute.views.page.store_ask import opened
from tests.support import filled


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return filled.having(tmp_path)


def test_usual_addresses_come_first_and_all_open(bench: Bench) -> None:
    with opened(bench.store) as ask:
        found = list(ahead.addresses(ask))
        assert [page for page, _ in found[: len(ahead.VARIED)]] == [p for p, _ in ahead.VARIED]
        assert ("holes", {"dataset": "tiny", "measure": "nDCG@10"}) in found
        for page in {page for page, _ in found}:
            named = next(named for of, named in found if of == page)
            prepare(PAGES[page], ask, **named)


def test_each_dataset_has_its_own_systems(bench: Bench) -> None:
    filled.take(bench, {"later": filled.RUNS["plain"]}, "second")
    with opened(bench.store) as ask:
        maps = [named for page, named in ahead.addresses(ask) if page == "map"]
    own = {"tiny": set(filled.RUNS), "second": {"later"}}
    for name, systems in own.items():
        assert {one["system"] for one in maps if one["dataset"] == name} == systems


@pytest.mark.long
def test_a_version_is_prepared_once_by_a_process_of_its_own(bench: Bench) -> None:
    home = bench.settings.home
    env = {**os.environ, "BEIRSCOPE_HOME": str(home), "BEIRSCOPE_THREADS": "1"}
    words = [sys.executable, "-c", "from compute.reading import stored_answers as s; s.SLOW = 0"]
    # Two of the pages do; all of them, for each dataset and measure that ship, take minutes.
    words[-1] += "; from compute.exports import ahead; ahead.VARIED = ahead.VARIED[1:3]"
    words[-1] += "; ahead.main()"

    def run() -> dict[str, int]:
        subprocess.run(words, cwd=PROJECT, env=env, check=True)
        return {file.name: file.stat().st_mtime_ns for file in (home / "caches").glob("*.answer*")}

    first = run()
    done = stored_answers.file(home, "all pages", bench.store.version())
    assert done.name in first and len(first) > 20
    assert run() == first
    # Asked again, the answers are read from their files.
    done.unlink()
    assert {*run()} == {*first}
    filled.add(bench, dataset("tiny", own_datasets(bench.store)), {"more": filled.RUNS["plain"]})
    assert set(first) < set(run())

"""Every system that has code, from its name to a page and a file, by the commands themselves.

`python -m pytest -m long tests/systems/test_every_system.py` prints the table of what each came
through; with BEIRSCOPE_KEEP_TRIED=1 before it, it also writes data/tried.csv anew, from which
`python -m compute systems` has that a system runs.
"""

import csv
import importlib.util
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from huggingface_hub import constants

from compute.__main__ import main
from compute.base.settings import PROJECT
from compute.evaluate.measures import MEASURES
from compute.systems import SYSTEMS, system
from compute.systems.catalogue import TRIED
from compute.systems.neural.use_qa import UseQa
from tests.support import oracles, pages, tiny_weights
from tests.support.tiny import JUDGEMENTS, write_tiny

pytestmark = pytest.mark.long
CODED = [name for name, row in SYSTEMS.items() if row.search or row.recipe]
STAGES = ("trained", "run", "exported", "scored", "drawn")
SHORTER = "epochs=1"
"""What recipes are trained with: at BEIR-PL's setting ict-herbert goes 1.8 million steps."""
has_tensorflow = importlib.util.find_spec("tensorflow_text") is not None


class World(NamedTuple):
    """A home with the tiny collection and its splits, and an empty cache of the hub."""

    folder: Path
    stages: dict[str, dict[str, str]]
    """By system, what it came through."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("every")
    tiny = write_tiny(folder / "tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        patch.setenv("BEIRSCOPE_THREADS", "1")
        # Its names in the environment are read once, when the first test imports the library.
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        patch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))
        for split in ("test", "train", "dev"):
            if split != "test":
                shutil.copy(tiny / "qrels" / "test.tsv", tiny / "qrels" / f"{split}.tsv")
            name = "tiny" if split == "test" else f"tiny/{split}"
            assert main(["import-dataset", str(tiny), "--name", name]) == 0
        yield World(folder, {})


@pytest.mark.parametrize("name", CODED)
def test_a_system_runs_from_its_name_to_a_page_and_a_file(
    world: World, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row, came = SYSTEMS[name], world.stages.setdefault(name, dict.fromkeys(STAGES, ""))
    if isinstance(row.search, UseQa) and not has_tensorflow:
        pytest.skip(f"{name} needs the extra: pip install '.[use-qa]'")
    called = name + tiny_weights.given(row, world.folder / "hub", world.folder / name)
    if row.recipe:
        assert main(["train", called, "tiny", "--set", SHORTER]) == 0
        called, came["trained"] = system(f"{name}[tiny]({SHORTER})").name, "yes"
    assert main(["run", called, "tiny"]) == 0
    came["run"] = "yes"
    lists = _exported(called, world.folder / f"{name}.run")
    came["exported"] = "yes"
    capsys.readouterr()
    assert main(["scores", "--dataset", "tiny", "--system", called, "--json"]) == 0
    means = {row["measure"]: row["value"] for row in json.loads(capsys.readouterr().out)}
    assert means.keys() >= set(MEASURES)
    assert 0 < means["nDCG@10"] == pytest.approx(_by_pytrec_eval(lists, "nDCG@10"), abs=1e-6)
    came["scored"] = "yes"
    assert _drawn(called, "q1") == [*lists["q1"]]
    came["drawn"] = "yes"


def _exported(called: str, file: Path) -> dict[str, dict[str, float]]:
    """Its run as it leaves: by query the scores of documents, best first."""
    assert main(["export", "run", "--dataset", "tiny", "--system", called, "--out", str(file)]) == 0
    lists: dict[str, dict[str, float]] = {}
    for line in file.read_text("utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        lists.setdefault(query_id, {})[doc_id] = float(score)
    return lists


def _by_pytrec_eval(lists: dict[str, dict[str, float]], measure: str) -> float:
    """What another program makes of the run that left."""
    judged: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in JUDGEMENTS:
        judged.setdefault(query_id, {})[doc_id] = grade
    values = oracles.by_pytrec_eval(judged, lists)
    return sum(values[measure, query_id] for query_id in judged) / len(judged)


def _drawn(called: str, query_id: str) -> list[str]:
    """The documents of its list on the Query page, from the first rank on."""
    app = pages.opened("pages/query.py", dataset="tiny", systems=called, query=query_id)
    traces = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    return [*dict.fromkeys(name for trace in traces for name in trace.get("customdata", []))]


def test_what_was_tried_is_kept(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """What systems came through here is what data/tried.csv says of them as they are now."""
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    with capsys.disabled():
        for name, came in [("", dict(zip(STAGES, STAGES, strict=True))), *world.stages.items()]:
            words = (f"{came[stage] or '-':8}" for stage in STAGES)
            sys.stdout.write(f"\n{name:18} {' '.join(words)}")
    found = {
        name: {"system": name, "fingerprint": SYSTEMS[name].fingerprint(), "version": version}
        for name, came in world.stages.items()
        if came["drawn"]
    }
    with TRIED.open(encoding="utf-8", newline="") as file:
        kept = {row["system"]: row for row in csv.DictReader(file)}
    if os.environ.get("BEIRSCOPE_KEEP_TRIED"):
        kept |= found
        with TRIED.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ("system", "version", "fingerprint"), lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept[name] for name in CODED if name in kept)
    assert kept | found == kept, "BEIRSCOPE_KEEP_TRIED=1 keeps what was tried now"

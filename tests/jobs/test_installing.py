"""What `make run` installs: halves, interruptions, and what pip is configured to."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from compute.base import install
from compute.base.locks import sole
from compute.base.settings import PROJECT
from tests.support.processes.jobbing import session, until

INSTALL = "compute/base/install.py"
BACKEND = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from wheels import wheel

def build_editable(folder, config_settings=None, metadata_directory=None):
    return wheel(Path(folder), "beirscope", {"beirscope.pth": str(Path(__file__).parent)}).name
"""
WHEELS = '''
import zipfile

def wheel(folder, name, files):
    """A package in the format of wheels."""
    about = f"{name}-1.dist-info"
    said = f"Name: {name}\\nVersion: 1\\n"
    files = files | {
        f"{about}/METADATA": f"Metadata-Version: 2.1\\n{said}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "".join(f"{file},,\\n" for file in [*files, f"{about}/RECORD"])
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (files | {f"{about}/RECORD": record}).items():
            archive.writestr(file, text)
    return path
'''
PYPROJECT = """
[project]
name = "beirscope"
version = "1"
[project.optional-dependencies]
look = ["small"]
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
SERVE = """
import sys, time
print(*sys.argv[1:], flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of two small packages, of which the dashboard needs one."""
    folder = tmp_path_factory.mktemp("project")
    (folder / INSTALL).parent.mkdir(parents=True)
    shutil.copy(PROJECT / INSTALL, folder / INSTALL)
    texts = {"pyproject.toml": PYPROJECT, "requirements.txt": "large==1\nsmall==1\n"}
    texts |= {"backend.py": BACKEND, "wheels.py": WHEELS, "compute/__main__.py": SERVE}
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(dedent(text), "utf-8")
    made: dict[str, object] = {}
    exec(WHEELS, made)
    (folder / "links").mkdir()
    for name in ("small", "large"):
        made["wheel"](folder / "links", name, {f"{name}/__init__.py": "A = 1\n"})  # pyrefly: ignore
    return folder


def run(project: Path, what: str) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, INSTALL, what, "environment"]
    return subprocess.run(words, cwd=project, env=where(project), capture_output=True, text=True)


def where(project: Path) -> dict[str, str]:
    """Only the folder of wheels, which has no uv: pip installs."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    links = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project / "links")}
    return own | links | {"PIP_CONFIG_FILE": os.devnull}


def imports(project: Path, name: str) -> bool:
    python = project / "environment" / "bin" / "python"
    words = [python, "-I", "-c", f"import {name}; {name}.A"]
    return subprocess.run(words, capture_output=True).returncode == 0


def marks(project: Path) -> set[str]:
    folder = project / "environment"
    return {name for name in ("look", "installed", "installing") if (folder / name).exists()}


@pytest.mark.long
def test_halves_are_installed_and_an_interrupted_one_is_repaired(project: Path) -> None:
    assert run(project, "look").returncode == 0
    assert imports(project, "small") and not imports(project, "large")
    assert marks(project) == {"look"}
    # What is left of `large` where its installation was killed, and the place of its wheel is gone.
    (packages,) = (project / "environment").glob("lib/python*/site-packages")
    for name in ("large-1.dist-info/METADATA", "large/other.py"):
        (packages / name).parent.mkdir()
        (packages / name).write_text("Metadata-Version: 2.1\nName: large\nVersion: 1\n", "utf-8")
    (project / "links").rename(project / "elsewhere")
    failed = run(project, "all")
    assert failed.returncode == 1 and "No matching distribution found for large" in failed.stdout
    assert marks(project) == {"look", "installing"}
    (project / "elsewhere").rename(project / "links")
    assert run(project, "all").returncode == 0
    assert imports(project, "large") and marks(project) == {"look", "installed"}


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_the_dashboard_ends_the_installation(project: Path, how: signal.Signals) -> None:
    folder = project / "environment"
    assert run(project, "look").returncode == 0
    (folder / "installed").unlink(missing_ok=True)
    with sole(folder / "installing") as held:  # the installation waits for this lock
        assert held
        process = subprocess.Popen(
            [sys.executable, INSTALL, "run", "environment"],
            cwd=project,
            env=where(project),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell may have started the tests in the background, where Ctrl-C is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout
        told = [process.stdout.readline().strip() for _ in range(2)]
        assert sorted(told) == ["The last installation was interrupted: continuing it.", "serve"]
        (waiting,) = until(lambda: children(process.pid) - session(process.pid), "the installation")
        if how == signal.SIGINT:
            os.killpg(process.pid, how)  # like Ctrl-C
        else:
            process.send_signal(how)
        assert process.wait(60) != 0
    assert not Path(f"/proc/{waiting}").exists() and not session(process.pid)
    assert marks(project) == {"look", "installing"}


def children(parent: int) -> set[int]:
    return {int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def test_uv_gets_the_configuration_of_pip() -> None:
    """The environment wins over the section `install`, and that over `global`."""
    told = """
        :env:.find-links='/c /d'
        global.cert='/etc/ca.crt'
        global.extra-index-url='https://a/simple\\nhttps://b/simple'
        global.find-links='/b'
        global.index-url='https://z/simple'
        install.index-url='https://y/simple'
        install.trusted-host='y'
        list.format='json'
    """
    options, variables = install.uv_options(dedent(told).strip()) or ([], {})
    assert options == [
        *("--index-strategy", "unsafe-best-match", "--index-url", "https://y/simple"),
        *("--extra-index-url", "https://a/simple", "--extra-index-url", "https://b/simple"),
        *("--find-links", "/c", "--find-links", "/d", "--allow-insecure-host", "y"),
    ]
    assert variables == {"SSL_CERT_FILE": "/etc/ca.crt"}


@pytest.mark.parametrize("setting", ["require-hashes", "no-index", "target"])
def test_a_setting_that_uv_may_not_have_is_left_to_pip(setting: str) -> None:
    assert install.uv_options(f"global.{setting}='true'") is None

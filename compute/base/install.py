"""Install the pinned packages into a virtual environment, those of the dashboard first.

    python3 compute/base/install.py run .venv     # open the dashboard, install the rest meanwhile
    python3 compute/base/install.py look .venv    # install only what the dashboard needs
    python3 compute/base/install.py all .venv

The files `look` and `installed` in the environment mark what is complete; `installing` exists until
everything is, and is locked by the process that installs (`compute/jobs/workers.py`). uv downloads
and unpacks in parallel, from the places in pip's configuration. If it is unavailable or fails, pip
installs the packages.
"""

import ast
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
PINS, PROJECT = HERE / "requirements.txt", HERE / "pyproject.toml"
UV = "uv==0.13.9"
OPTIONS = [
    *("index-url", "extra-index-url", "find-links", "trusted-host"),
    *("constraint", "only-binary", "no-binary"),
]
"""Settings of pip that are options of uv, some under another name."""
RENAMED = {"trusted-host": "allow-insecure-host"}
VARIABLES = {
    "cert": ["SSL_CERT_FILE"],
    "client-cert": ["SSL_CLIENT_CERT"],
    "proxy": ["HTTP_PROXY", "HTTPS_PROXY"],
    "default-timeout": ["UV_HTTP_TIMEOUT"],
    "timeout": ["UV_HTTP_TIMEOUT"],
}
"""Settings of pip that are environment variables of uv."""
EITHER_WAY = [
    *("cache-dir", "disable-pip-version-check", "no-cache-dir", "no-color", "no-compile"),
    *("no-input", "no-warn-script-location", "prefer-binary", "progress-bar", "quiet"),
    *("require-virtualenv", "retries", "root-user-action", "verbose"),
]
"""Settings of pip that do not change what it installs."""
FETCHED, TOLD = ("Collecting", "Downloaded", "Processing"), ("Installed", "Prepared", "Resolved")


class Environment:
    """The virtual environment in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).absolute()
        self.python = self.folder / "bin" / "python"
        self.log = self.folder / "install.log"
        self.installing = self.folder / "installing"

    def has(self, name: str) -> bool:
        """Return whether `look` or `installed` is complete at the current pins."""
        mark, of = self.folder / name, [PINS] + [PROJECT] * (name == "look")
        return mark.exists() and mark.stat().st_mtime >= max(file.stat().st_mtime for file in of)

    def look(self) -> None:
        """Install what the dashboard needs, if it is not complete."""
        with_pip = find_spec("pip") or (self.folder / "bin" / "pip").exists()
        if not (self.python.exists() and with_pip):
            venv.create(self.folder, symlinks=True, with_pip=not find_spec("pip"))
        if not (self.has("look") or self.has("installed")):
            say("Installing what the dashboard needs (under 1 GB)")
            extras = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
            self.install("--constraint", PINS, *extras["look"])
        (self.folder / "look").touch()

    def all(self) -> None:
        """Install everything, or wait until another process has."""
        self.look()
        with self.installing.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not self.has("installed"):
                say("Installing what computing needs (3 GB with a CPU torch, else 7 GB)")
                if index := os.environ.get("TORCH_INDEX"):
                    pins = PINS.read_text("utf-8").splitlines()
                    torch = next(pin for pin in pins if pin.startswith("torch=="))
                    self.install("--index-url", index, torch)
                self.install("--requirement", PINS)
                self.install("--no-deps", "--no-build-isolation", "--editable", HERE)
                if not (self.folder / "bin" / "pip").exists():
                    self.ends([self.python, "-m", "ensurepip"])
                (self.folder / "installed").touch()
            self.installing.unlink(missing_ok=True)

    def run(self) -> None:
        """Open the dashboard, and install the rest at the same time."""
        interrupted = self.installing.exists()
        self.look()
        serve = [str(self.python), "-m", "compute", "serve"]
        if self.has("installed"):
            os.execv(serve[0], serve)
        if interrupted:
            say("The last installation was interrupted: continuing it.")
        self.installing.touch()
        rest = subprocess.Popen(
            ["nice", sys.executable, __file__, "all", str(self.folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the dashboard, and its end ends this
        )
        dashboard = subprocess.Popen(serve, cwd=HERE)
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: dashboard.terminate())
        threading.Thread(target=self.report, args=[rest], daemon=True).start()
        status = dashboard.wait()
        if rest.poll() is None:
            os.killpg(rest.pid, signal.SIGTERM)
            rest.wait()
        sys.exit(status)

    def report(self, rest: "subprocess.Popen[bytes]") -> None:
        """Say how an installation beside the dashboard ended, unless it was stopped."""
        status = rest.wait()
        if status == 0:
            say("All packages are installed: the worker starts.")
        elif status > 0:
            say(f"Packages are missing ({self.log} says why): stop, and start make run again.")

    def install(self, *words: Any) -> None:
        """Install packages with uv, or else with pip. Exits if both fail."""
        for about in self.folder.glob("lib/python*/site-packages/*.dist-info"):
            if not (about / "INSTALLER").exists():  # written last, so the package is incomplete
                shutil.rmtree(about)
        # Unpacking a second pip first would take seconds.
        pip = [sys.executable, "-m", "pip", "--python", self.python]
        pip = pip if find_spec("pip") else [self.python, "-m", "pip"]
        uv: list[Any] = [self.folder / "bin" / "uv", "pip", "install", "--python", self.python]
        told = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=True)
        options = uv_options(told.stdout)
        known = options is not None and (
            uv[0].exists() or not self.ends([*pip, "install", "--no-compile", UV])
        )
        if known and not self.ends([*uv, *options[0], *words], options[1]):
            return
        say("  without uv")
        if status := self.ends([*pip, "install", "--no-compile", *words]):
            say(*self.log.read_text("utf-8", "replace").splitlines()[-15:])
            sys.exit(status)

    def ends(self, words: list[Any], variables: dict[str, str] | None = None) -> int:
        """Run a command, show its progress on one line and add its output to the log; return its
        exit status."""
        fetched, how = 0, dict[str, Any](stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        how |= {"env": os.environ | (variables or {}), "cwd": HERE, "errors": "replace"}
        with (
            self.log.open("a", encoding="utf-8") as log,
            subprocess.Popen([str(word) for word in words], **how) as run,
        ):
            for line in run.stdout or ():
                log.write(line)
                if line.split()[:1] in [[word] for word in FETCHED]:
                    fetched += 1
                    sys.stdout.write(f"\r  {fetched} packages fetched ")
                    sys.stdout.flush()
                elif line.startswith(TOLD):
                    say(f"\r  {line.strip()}    ")
        return run.returncode


def uv_options(configuration: str) -> tuple[list[str], dict[str, str]] | None:
    """Return options and environment for uv from the output of `pip config list`; None if it has a
    setting that uv may lack."""
    found = {"global": {}, "install": {}, ":env:": {}}  # the later ones win
    for line in configuration.splitlines():
        name, _, value = line.partition("=")
        section, _, setting = name.rpartition(".")
        if section in found:
            found[section][setting] = ast.literal_eval(value)
    settings = found["global"] | found["install"] | found[":env:"]
    if not settings.keys() <= {*OPTIONS, *VARIABLES, *EITHER_WAY}:
        return None
    options = ["--index-strategy", "unsafe-best-match"]  # the best version of all places, like pip
    for name in filter(settings.get, OPTIONS):
        option = f"--{RENAMED.get(name, name)}"
        options += [word for value in settings[name].split() for word in (option, value)]
    names = {variable: settings.get(name) for name in VARIABLES for variable in VARIABLES[name]}
    return options, {variable: value for variable, value in names.items() if value}


def say(*lines: str) -> None:
    """Print lines at once."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main() -> None:
    """Run the requested action."""
    _, what, folder = sys.argv
    try:
        {"run": Environment.run, "look": Environment.look, "all": Environment.all}[what](
            Environment(folder)
        )
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

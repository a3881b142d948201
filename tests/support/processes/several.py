"""Several servers behind nginx, brought up word for word as `docs/deployment.md` says.

Each machine is a network namespace. Nothing of the papers is changed but paths, the provider's
address and, on the second server, the address it listens at.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from compute.base.settings import PROJECT
from tests.support.processes import database, identity
from tests.support.processes.jobbing import until
from tests.support.processes.knocking import Answer, asked
from tests.support.processes.networks import Network, network

ADDRESS = "https://scope.example.org"
HUB, PROXY = "192.0.2.1", "192.0.2.2"
SERVERS = {"one": "192.0.2.11", "two": "192.0.2.12"}
_NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
"""Debian has it where only root looks."""
_CERTIFICATE = """req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2
    -subj /CN=beirscope -addext subjectAltName=DNS:scope.example.org,DNS:db.example.org
    -keyout privkey.pem -out fullchain.pem"""
_AROUND = """daemon off; master_process on; pid nginx.pid; error_log nginx.log;
events {{ }} http {{ access_log off; {paths} include site.conf; }}"""
"""What Debian's own nginx.conf says around a site, with paths of its own."""


def missing() -> str:
    """What this machine lacks for it; empty if nothing."""
    if not _NGINX or not all(map(shutil.which, ("ip", "openssl"))):
        return "no nginx, ip or openssl here: apt-get install nginx iproute2 openssl"
    if not database.installed():
        return "no PostgreSQL server here: apt-get install postgresql, initdb on the PATH"
    return ""


def blocks(paper: str, heading: str = "") -> list[str]:
    """The indented blocks of a paper of docs/, or of what stands under one of its headings."""
    text = (PROJECT / "docs" / paper).read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0] if heading else text
    found = [""]
    for line in section.splitlines():
        if line.startswith("    ") or (found[-1] and not line):
            found[-1] += f"{line}\n"
        elif found[-1]:
            found.append("")
    return [textwrap.dedent(one).strip() + "\n" for one in found if one]


ALONE = "One machine, with sign-in behind a proxy"
SEVERAL = "Several servers behind nginx"


@dataclass
class Site:
    """The machines, and what runs on them."""

    folder: Path
    network: Network
    provider: identity.Provider
    state: str
    """The address of the database, through its socket."""
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def placed(self, text: str, machine: str = "one") -> str:
        """A text of the papers with the paths of here."""
        given = {
            "/opt/beirscope": PROJECT,
            "/var/lib/beirscope": self.folder / machine,
            "/mnt/shared": self.folder / "shared",
            "/etc/letsencrypt/live/scope.example.org": self.folder,
            "https://accounts.google.com": self.provider.address,
            'client_id = "…"': f'client_id = "{identity.CLIENT}"',
            'client_secret = "…"': f'client_secret = "{identity.SECRET}"',
            "…": "0123456789abcdef" * 2,
            SERVERS["one"]: SERVERS.get(machine, SERVERS["one"]),
        }
        for ours, here in given.items():
            text = text.replace(ours, str(here))
        return text

    def set_up(self, machine: str) -> None:
        """Write what the papers say a server has."""
        link, several, *_ = blocks("many-machines.md")
        roles, secrets, *_ = blocks("deployment.md", ALONE)
        own, *_ = blocks("deployment.md", SEVERAL)
        subprocess.run(["sh", "-c", self.placed(link, machine)], check=True)
        home = self.folder / machine
        told = self.placed("\n".join((roles, several, own)), machine)
        (home / "settings.toml").write_text(told, "utf-8")
        (home / "secrets.toml").write_text(self.placed(secrets, machine), "utf-8")
        # The account's own home: there libpq looks for who signs certificates.
        (home / ".postgresql").mkdir()
        shutil.copy(self.folder / "fullchain.pem", home / ".postgresql" / "root.crt")

    def start(self, machine: str) -> None:
        """Start a server as its unit says."""
        unit = [line.partition("=") for line in blocks("deployment.md", ALONE)[2].splitlines()]
        said = {name: self.placed(value, machine) for name, _, value in unit}
        name, _, value = said["Environment"].partition("=")
        self.run(machine, shlex.split(said["ExecStart"]), {name: value})

    def look(self, machine: str, *newer: str) -> None:
        """Start the dashboard of a server alone, or one of the next version."""
        words = [sys.executable, "-m", "tests.support.processes.looking", *newer]
        self.run(machine, words, {"BEIRSCOPE_HOME": str(self.folder / machine)})

    def run(self, machine: str, words: list[str], told: Mapping[str, str]) -> None:
        """Run a command of a server on its machine."""
        home = self.folder / machine
        with (home / "said").open("ab") as said:
            self.running[machine] = subprocess.Popen(
                [*self.network.under(machine), *words],
                cwd=PROJECT,
                env={"HOME": str(home), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", **told},
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def said(self, machine: str) -> str:
        """What a server printed."""
        return (self.folder / machine / "said").read_text("utf-8")

    def kill(self, machine: str) -> None:
        """Let all processes of a machine end at once."""
        killed = self.running.pop(machine)
        for process in self.processes(machine):
            os.kill(process, signal.SIGKILL)
        killed.wait()

    def processes(self, machine: str) -> list[int]:
        """What runs on a machine."""
        named = subprocess.run(
            ["ip", "netns", "pids", self.network.of(machine)],
            check=True,
            capture_output=True,
            text=True,
        )
        return [int(line) for line in named.stdout.split()]

    def answer(self, machine: str) -> Answer:
        """What a server says of its health; status 0 where it does not answer."""
        try:
            with self.network.inside():
                address = f"http://{SERVERS[machine]}:8501/_stcore/health"
                return asked(address, Host=ADDRESS.partition("//")[2])
        except OSError:
            return Answer(0, b"")

    def serves(self, machine: str) -> bool:
        """Whether a server takes people in."""
        return self.answer(machine).status == 200

    def ready(self) -> None:
        """Wait until what was started takes people in."""
        for machine in self.running.keys() & SERVERS.keys():
            until(lambda machine=machine: self.serves(machine), f"server {machine}")

    def end(self) -> None:
        """End what still runs."""
        for machine in [*self.running]:
            self.kill(machine)


@contextmanager
def site(folder: Path, people: dict[str, dict[str, Any]]) -> Iterator[Site]:
    """Two servers that can be started, behind nginx."""
    folder.chmod(0o711)
    subprocess.run(["openssl", *_CERTIFICATE.split()], cwd=folder, check=True, capture_output=True)
    with ExitStack() as opened:
        net = opened.enter_context(network(folder, HUB))
        for machine, address in {"proxy": PROXY, **SERVERS}.items():
            net.add(machine, address)
        net.name({"scope.example.org": PROXY, "db.example.org": HUB, "accounts.example.org": HUB})
        with net.inside():
            state = opened.enter_context(_database(folder))
            provider = opened.enter_context(identity.providing(people, HUB))
        made = Site(folder, net, provider, state)
        opened.callback(made.end)
        (folder / "shared" / "parts").mkdir(parents=True)
        for machine in SERVERS:
            made.set_up(machine)
        _nginx(made)
        yield made


@contextmanager
def _database(folder: Path) -> Iterator[str]:
    """A PostgreSQL that speaks TLS; the address of its database beirscope, through the socket."""
    key = folder / "database.key"
    shutil.copy(folder / "privkey.pem", key)
    shutil.chown(key, "postgres")
    key.chmod(0o600)
    (folder / "fullchain.pem").chmod(0o644)
    options = f"-c listen_addresses={HUB} -c ssl=on -c ssl_key_file={key}"
    options += f" -c ssl_cert_file={folder / 'fullchain.pem'}"
    who = "hostssl all all 192.0.2.0/24 trust"
    with database.server(options, hosts=[who]) as socket:
        first = f"postgresql://postgres@/postgres?host={socket}"
        with psycopg.connect(first, autocommit=True) as connection:
            connection.execute("create role beirscope login")
            connection.execute("create database beirscope owner beirscope")
        yield f"postgresql://beirscope@/beirscope?host={socket}"


def _nginx(site: Site) -> None:
    folder = site.folder / "proxy"
    folder.mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(_AROUND.format(paths=paths), "utf-8")
    told = blocks("deployment.md", SEVERAL)[1]
    (folder / "site.conf").write_text(site.placed(told, "proxy"), "utf-8")
    assert _NGINX
    site.run("proxy", [_NGINX, "-p", f"{folder}/", "-c", "nginx.conf"], {})

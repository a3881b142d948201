"""A network of machines on this one: each a network namespace, which nothing outside can reach."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_HUB = "hub"
"""The machine that is the switch, too: what all others share runs there."""


def possible() -> bool:
    """Whether this account may make network namespaces here."""
    if os.geteuid() or not shutil.which("unshare"):
        return False
    tried = ["unshare", "--net", "--mount", "ip", "link", "add", "tried", "type", "bridge"]
    return not subprocess.run(tried, check=False, capture_output=True).returncode


class Network:
    """Machines by name, each with an address in 192.0.2.0/24 and the names of all."""

    def __init__(self, folder: Path, hub: str) -> None:
        self._folder = folder
        self._mark = f"beirscope-{os.getpid()}"
        self._machines: list[str] = []
        self.hosts = folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n", "utf-8")
        self._namespace(_HUB)
        self._ip("link add switch type bridge", _HUB)
        self._ip(f"addr add {hub}/24 dev switch", _HUB)
        self._ip("link set switch up", _HUB)

    def add(self, machine: str, address: str) -> None:
        """A machine at the switch."""
        self._namespace(machine)
        self._ip(f"link add {machine} type veth peer name eth0 netns {self.of(machine)}", _HUB)
        self._ip(f"link set {machine} master switch up", _HUB)
        self._ip(f"addr add {address}/24 dev eth0", machine)
        self._ip("link set eth0 up", machine)

    def name(self, names: Mapping[str, str]) -> None:
        """Let machines know these names (to addresses)."""
        with self.hosts.open("a", encoding="utf-8") as file:
            file.writelines(f"{address} {name}\n" for name, address in names.items())

    def under(self, machine: str = _HUB) -> list[str]:
        """The command that runs another one on a machine, with the names of the network."""
        script = f'mount --bind "{self.hosts}" /etc/hosts && exec "$@"'
        return ["ip", "netns", "exec", self.of(machine), "sh", "-c", script, "sh"]

    @contextmanager
    def inside(self, machine: str = _HUB) -> Iterator[None]:
        """What this thread starts and connects in the block, it does on a machine."""
        with Path("/proc/thread-self/ns/net").open("rb") as before:
            with Path("/run/netns", self.of(machine)).open("rb") as there:
                _enter(there.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def end(self) -> None:
        """Take the machines away; what ran on them has ended."""
        for machine in self._machines:
            subprocess.run(["ip", "netns", "del", self.of(machine)], check=True)

    def _namespace(self, machine: str) -> None:
        subprocess.run(["ip", "netns", "add", self.of(machine)], check=True)
        self._machines.append(machine)
        self._ip("link set lo up", machine)

    def of(self, machine: str) -> str:
        """The name of the namespace."""
        return f"{self._mark}-{machine}"

    def _ip(self, words: str, machine: str) -> None:
        subprocess.run(["ip", "-n", self.of(machine), *words.split()], check=True)


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


@contextmanager
def network(folder: Path, hub: str) -> Iterator[Network]:
    """A network that ends with the block; its hub has an address."""
    made = Network(folder, hub)
    try:
        yield made
    finally:
        made.end()

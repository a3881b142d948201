"""Measures every page on a home: `python -m tests.benchmarks.pages HOME [PART …]`.

    python -m tests.benchmarks.pages HOME [server] [browser] [clicks] [memory] [crowd] [publishing]
        [--openings 20] [--pages PAGE …] [--times 10] [--people 1 8] [--json FILE]

Made for the store of `tests.benchmarks.full_size`; the home is not written to. `server`: a person
speaks Streamlit's protocol over the WebSocket, from asking for an address until all is drawn; cold
is the first opening in a fresh process, warm those some seconds after it, each with other pickers,
then some of the same addresses again. `browser`: from navigation until the page is whole. `clicks`:
from a click on a page's name, in a session that stays, until it is whole. `memory`: of the server
after everybody opened every page so many times. `crowd`: 30 sessions that open five
addresses each at once. `publishing`: pages beside a process that publishes a run of 1.4 million
hits again and again. Prints tables in Markdown; `--json` has every opening. Seconds of processors
are the server's own: on a busy machine they tell more.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from compute.base.settings import Settings
from compute.reading.database import open_version
from compute.store.store import Store
from tests.benchmarks.pages import browser as page_browser
from tests.benchmarks.pages import crowds
from tests.benchmarks.pages.addresses import PAGES, Address, Addresses
from tests.benchmarks.pages.sessions import Opening, serving, session
from tests.benchmarks.side_by_side import machine

PARTS = ("server", "browser", "clicks", "memory", "crowd", "publishing")
SETTLED = 6.0
"""Seconds after the first opening until a dashboard has nothing more to prepare."""
KNOWN = 5
"""Addresses that are opened a second time."""
Table = list[dict[str, Any]]


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--openings", type=int, default=20)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--people", type=int, nargs="+", default=(1, 8))
    parser.add_argument("--pages", nargs="+", choices=PAGES, default=PAGES)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    # Ended from outside, the dashboards that it started end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found = measured(given, drawn(given.home, given.pages, given.openings))
    sys.stdout.write(f"\n{machine()}\n")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), "utf-8")


def measured(given: argparse.Namespace, addresses: Mapping[str, list[Address]]) -> dict[str, Table]:
    """The tables of the parts that are asked for, each shown once it is there."""
    home, found = given.home, {}
    parts: dict[str, tuple[str, Callable[[], Table]]] = {
        "server": ("On the server", lambda: [on_server(home, *of) for of in addresses.items()]),
        "browser": ("In the browser", lambda: list(in_browser(home, addresses))),
        "clicks": ("Clicks in one session", lambda: clicked(home, given.times)),
        "memory": (
            "Memory of the server",
            lambda: [crowds.tour(home, n, given.times) for n in given.people],
        ),
        "crowd": ("At once", lambda: [crowds.at_once(home, 30, 5)]),
        "publishing": (
            "Beside publishing",
            lambda: crowds.beside_publishing(home, addresses),
        ),
    }
    for part in given.parts or PARTS:
        title, measure = parts[part]
        found[part] = measure()
        show(title, found[part])
    return found


def drawn(home: Path, pages: Iterable[str], openings: int) -> dict[str, list[Address]]:
    """The addresses of each page."""
    store = Store(Settings(home=home))
    reading = open_version(store)
    try:
        source = Addresses(store, reading)
        return {page: source.of(page, openings) for page in pages}
    finally:
        reading.close()
        store.close()


def on_server(home: Path, page: str, addresses: list[Address]) -> dict[str, Any]:
    """Cold, and warm with new and with known addresses: seconds and seconds of processors."""
    with serving(home) as server:
        found: list[Opening] = []
        for number, address in enumerate((addresses[0], *addresses, *addresses[:KNOWN])):
            with session(server) as person:
                found.append(person.open(address))
            # After its first page a dashboard counts added judgements in, in the background.
            time.sleep(0 if number else SETTLED)
        memory = server.resident()
    cold, new, known = found[0], found[1 : 1 + len(addresses)], found[1 + len(addresses) :]
    row: dict[str, Any] = {"page": page, "cold_s": cold.seconds, "cold_cpu_s": cold.cpu}
    for name, openings in (("new", new), ("known", known)):
        row |= _figures(name, [one.seconds for one in openings], [one.cpu for one in openings])
    row["sent_kB"] = float(np.median([one.sent for one in new])) / 1e3
    row["most_sent_kB"] = max(one.sent for one in new) / 1e3
    row["memory_MB"] = memory
    worst = max(new, key=lambda one: one.cpu)
    row |= {"slowest": worst.address, "faults": sum(bool(one.fault) for one in found)}
    row["fault"] = next((one.fault for one in found if one.fault), "")
    row["openings"] = [asdict(one) for one in found]
    _note(
        f"{page}: cold {cold.seconds:.2f} s, {cold.cpu:.2f} s of processors; warm"
        f" {row['new_p50_ms']:.0f} to {row['new_p95_ms']:.0f} ms"
    )
    return row


def _figures(name: str, seconds: list[float], cpu: list[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds."""
    return {
        f"{name}_p50_ms": 1000 * float(np.median(seconds)),
        f"{name}_p95_ms": 1000 * float(np.percentile(seconds, 95)),
        f"{name}_cpu_p50_ms": 1000 * float(np.median(cpu)),
        f"{name}_cpu_p95_ms": 1000 * float(np.percentile(cpu, 95)),
    }


def in_browser(home: Path, addresses: Mapping[str, list[Address]]) -> Iterable[dict[str, Any]]:
    """Cold is the first page of a fresh server; warm are others on the same one."""
    with page_browser.chromium() as browser:
        for page, of_page in addresses.items():
            with serving(home) as server:
                first, *rest = (page_browser.seconds(browser, server, one) for one in of_page[:11])
            p50, p95 = np.percentile(rest, [50, 95])
            row = {"page": page, "cold_s": first, "p50_s": float(p50), "p95_s": float(p95)}
            _note(f"{page} in the browser: {row}")
            yield row | {"openings": [first, *rest]}


def clicked(home: Path, times: int) -> Table:
    """A row for each page, and one for all: seconds from a click until the page is whole."""
    with page_browser.chromium() as browser, serving(home) as server:
        found = list(page_browser.clicks(browser, server, times + 1))
    # The first round opens each page for the first time in its process.
    found = found[len(found) // (times + 1) :]
    by_page = {title: [s for name, s in found if name == title] for title, _ in found}
    rows = []
    for title, seconds in {**by_page, "all": [s for _, s in found]}.items():
        p50, p95 = np.percentile(seconds, [50, 95])
        rows.append({"page": title, "p50_s": float(p50), "p95_s": float(p95)})
    return rows


def show(title: str, table: Table) -> None:
    """A table in Markdown, without the single openings."""
    names = [name for name in table[0] if name != "openings"]
    lines = [f"\n### {title}\n", _line(names), _line("---" for _ in names)]
    lines += [_line(_shown(row[name]) for name in names) for row in table]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 10 else f"{value:,.0f}"
    return str(value).replace("|", "\\|")


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()

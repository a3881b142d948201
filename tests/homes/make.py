"""Make a home with an older version and keep it here; run inside a checkout of that version.

    git worktree add ../old COMMIT && cd ../old && ln -s ../main/.venv .venv
    PYTHONPATH=. .venv/bin/python ../main/tests/homes/make.py NAME

`compute` and `tests` are then those of the older version, so this uses only what all versions
have. NAME.tar.gz, the home, and NAME.json, what the older version said of it, stand beside this
file; neither is made again when the code changes.
"""

import contextlib
import importlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from compute import __main__ as command_line


def module(*names: str) -> Any:
    """A module by the names that versions have for it, the newest first."""
    for name in names:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise ImportError(names[0])


settings = module("compute.base.settings", "compute.settings")
SHIPPED, Store = (
    getattr(module("compute.store.store", "compute.store"), name) for name in ("SHIPPED", "Store")
)
tiny = module("tests.support.tiny", "tests.tiny")

AT = Path("/srv/beirscope")
"""Where the home is made, and the files that it takes in: parts record their paths."""
HOME = AT / "home"
KEPT = ("settings.toml", "home.json", "state.sqlite", "jobs.sqlite", "parts")
"""Of the home; caches, logs and locks are left out."""
SETTINGS = 'depth = 50\nthreads = 1\njava_memory = "1g"\ncache_bytes = 1000000000\n'
RUN = [("q1", "d5", 3.0), ("q1", "d4", 2.0), ("q1", "d2", 2.0), ("q2", "d3", 1.0)]
RUN += [("q3", "d4", 2.5), ("q3", "d6", 1.5)]
ADDED = [("q1", "d4", 1, "ada"), ("q1", "d2", 0, "ada"), ("q1", "d4", 2, "bob")]
ADDED += [("q3", "d4", 1, "ada")]
TINY = {"dataset": "tiny", "measure": "RR@10"}
PAIR = {"a": "bm25", "b": "mine"}
ADDRESSES: list[tuple[str, dict[str, str]]] = [
    ("leaderboard", {"numbers": "Computed", "measure": "RR@10"}),
    ("dataset", TINY),
    ("query", TINY | PAIR | {"query": "q2", "find": "river", "order": "by difference"}),
    ("jobs", {"systems": "bm25", "datasets": "tiny"}),
    ("compare", TINY | PAIR),
    ("map", TINY | {"system": "mine", "other": "bm25", "order": "by id", "ranks": "10"}),
    ("holes", {"dataset": "tiny", "measure": "nDCG@10", "systems": "mine"}),
    ("lengths", {"dataset": "tiny", "k": "10"}),
    ("efficiency", {"dataset": "tiny", "measure": "RR@10"}),
    ("overlap", {"unit": "bigrams"}),
    ("data", {"dataset": "tiny", "system": "mine"}),
    ("dataset", TINY | {"show": "Systems", "against": "bm25"}),
]


def command(*words: str) -> str:
    """Run a command of the older version; returns what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        status = command_line.main(words)
    assert not status, (words, status, told.getvalue())
    return told.getvalue()


def commands() -> dict[str, list[str]]:
    """The options of every command of the older version."""
    with contextlib.suppress(ImportError):
        from tests.commands.arguments import NAMES, options

        return {name: sorted(options(name)) for name in NAMES}
    older: Any = command_line
    below: Any = older.parser()._subparsers
    return {
        name: sorted(option for action in one._actions for option in action.option_strings)
        for name, one in below._group_actions[0].choices.items()
    }


def take_in(at: Path) -> None:
    """The collections and the run that others made, from files at a folder."""
    command("import-dataset", str(tiny.write_tiny(at / "tiny")), "--name", "tiny")
    half = tiny.write_tiny(at / "half")
    lines = [json.dumps(document) + "\n" for document in tiny.DOCUMENTS[:3]]
    (half / "corpus.jsonl").write_text("".join(lines), "utf-8")
    command("import-dataset", str(half), "--name", "half")
    qrels, topics = at / "judged.qrels", at / "judged.tsv"
    qrels.write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in tiny.JUDGEMENTS), "utf-8")
    topics.write_text("".join(f"{q['_id']}\t{q['text']}\n" for q in tiny.QUERIES), "utf-8")
    words = ("--qrels", str(qrels), "--queries", str(topics), "--name", "judged")
    command("import-dataset", *words)
    mine = at / "mine.run"
    mine.write_text("".join(f"{q} Q0 {d} 0 {s} mine\n" for q, d, s in RUN), "utf-8")
    command("import-run", str(mine), "--dataset", "judged")
    if "--replace" in commands()["import-run"]:
        first = at / "first.run"
        first.write_text("q1 Q0 d3 0 1 mine\n", "utf-8")
        command("import-run", str(first), "--dataset", "tiny")
        command("import-run", str(mine), "--dataset", "tiny", "--replace")
    else:
        command("import-run", str(mine), "--dataset", "tiny")


def work(seconds: int = 300) -> None:
    """Have a worker do a job."""
    command("jobs", "start", "run", "--systems", "bm25", "--datasets", "tiny")
    worker = subprocess.Popen([sys.executable, "-m", "compute", "worker"], start_new_session=True)
    end = time.monotonic() + seconds
    while '"done"' not in (told := command("jobs", "list", "--json")):
        assert time.monotonic() < end and '"failed"' not in told, told
        time.sleep(1)
    worker.send_signal(signal.SIGTERM)
    worker.wait(60)


def judge(store: Any) -> None:
    """Judgements that people added; one is taken back."""
    about = {"dataset": "tiny", "task": "query-page", "guideline_version": "1", "source": "person"}
    names = ["query_id", "doc_id", "relevance", "person"]
    store.add_judgements(pd.DataFrame(ADDED, columns=names).assign(**about))
    row = store.added_judgements().query("id == 2").drop(columns=["id", "time"])
    store.add_judgements(row.assign(relevance=None))
    with contextlib.suppress(ImportError):
        annotate(store)


def annotate(store: Any) -> None:
    """A task, two of whose pairs somebody judged."""
    exchange = module("compute.judgements.tasks.queue", "compute.annotation.queue").exchange
    annotating = module("tests.support.annotating", "tests.annotating")
    task = annotating.made(store, title="Holes of tiny")
    held = exchange(store, task, annotating.ADA).held
    answers = [annotating.answer(pair.id, relevance=2) for pair in held[:2]]
    exchange(store, task, annotating.ADA, answers)


def compute_more() -> None:
    """Runs that need no Java, and what the version can count."""
    command("run", "minilm", "tiny")
    with contextlib.suppress(ImportError):
        module("compute.systems.combine.fusion", "compute.systems.fusion")
        command("run", "rrf(bm25,mine)", "tiny")
    for name in ("overlap", "lengths"):
        if name in {known.split(" ")[0] for known in commands()}:
            command(name)


def exported() -> dict[str, str]:
    """The files that the version writes, by name."""
    if "export" not in {known.split(" ")[0] for known in commands()}:
        return {}
    for system in ("bm25", "mine"):
        out = str(AT / f"{system}.exported.run")
        command("export", "run", "--dataset", "tiny", "--system", system, "--out", out)
    added = [AT / "added.csv", AT / "added.qrels"]
    for file in added:
        command("judgements", "export", str(file), "--dataset", "tiny")
    files = [*sorted(AT.glob("*.exported.run")), *added]
    return {file.name: file.read_text("utf-8") for file in files}


def opened() -> list[dict[str, Any]]:
    """What the pickers of the pages show at addresses of the version."""
    found = []
    for page, address in ADDRESSES:
        file = Path("pages", f"{page}.py").absolute()
        if not file.exists():
            continue
        app = AppTest.from_file(str(Path("app.py").absolute()), default_timeout=120)
        app.query_params.update(address)
        if page != "leaderboard":
            app.switch_page(str(file))
        app.run()
        told = [element.value for element in (*app.exception, *app.error, *app.warning)]
        assert not told or page == "jobs", (page, told)
        shown = {key: app.session_state[key] for key in address if key in app.session_state}
        found.append({"page": page, "address": address, "shown": shown})
    return found


def said(store: Any) -> dict[str, Any]:
    """What the version says of the home."""
    with contextlib.closing(sqlite3.connect(HOME / "state.sqlite")) as state:
        (format_,) = state.execute("select max(format) from steps").fetchone()
    scores = json.loads(command("show", "scores", "--json"))
    return {
        "format": format_,
        "settings": [field.name for field in fields(settings.Settings)],
        "commands": commands(),
        "parts": [[*part.identity, part.fingerprint, part.rows] for part in store.parts()],
        "scores": [
            [row[name] for name in ("dataset", "system", "measure", "value")] for row in scores
        ],
        "added": json.loads(store.added_judgements().to_json(orient="records")),
        "jobs": json.loads(command("jobs", "list", "--json")),
        "exported": exported(),
        "pages": opened(),
    }


def written(told: dict[str, Any]) -> str:
    """JSON with one line for each item of a list or object."""

    def lines(found: Any) -> str:
        if isinstance(found, dict):
            items = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
            return "{\n  " + ",\n  ".join(items) + "\n }"
        if found and isinstance(found, list):
            return "[\n  " + ",\n  ".join(map(json.dumps, found)) + "\n ]"
        return json.dumps(found)

    items = [f"{json.dumps(key)}: {lines(value)}" for key, value in told.items()]
    return "{\n " + ",\n ".join(items) + "\n}\n"


def pack(file: Path) -> None:
    """The home, and in `precomputed` what the version ships of it."""
    for database in HOME.glob("*.sqlite"):
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")
            connection.execute("vacuum")
    command("ship", "tiny")
    with tarfile.open(file, "w:gz") as packed:
        for name in KEPT:
            if (HOME / name).exists():
                packed.add(HOME / name, name)
        packed.add(SHIPPED, "precomputed")
    shutil.rmtree(SHIPPED)


def main() -> None:
    """Make the home, write down what is said of it, and pack it."""
    assert not SHIPPED.exists(), f"move {SHIPPED} away: what ships is no part of the home"
    shutil.rmtree(AT, ignore_errors=True)
    HOME.mkdir(parents=True)
    (HOME / "settings.toml").write_text(SETTINGS, "utf-8")
    os.environ |= {"BEIRSCOPE_HOME": str(HOME), "BEIRSCOPE_LATENCY_QUERIES": "0"}
    take_in(AT)
    work()
    compute_more()
    store = Store(settings.load())
    judge(store)
    # Nobody does this one before the home is closed.
    command("jobs", "start", "score", "--datasets", "tiny")
    folder, name = Path(__file__).parent, sys.argv[1]
    (folder / f"{name}.json").write_text(written(said(store)), "utf-8")
    store.close()
    pack(folder / f"{name}.tar.gz")


if __name__ == "__main__":
    main()

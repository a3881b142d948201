"""A separate process that checks uploaded files and imports them one by one. The page shows its
progress, and the dashboard stays responsive for others. The process reads its request as one line
of JSON, and answers in lines of JSON. It ends when the process that sent the request ends; if it is
killed, nothing incomplete has been published."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from compute.base import bug_reports, disk_refusals, settings
from compute.base.errors import BeirscopeError, Unavailable
from compute.base.settings import PROJECT
from compute.base.words import counted
from compute.datasets import shapes, trec, unpacked_size
from compute.datasets.without_documents import texts_of
from compute.intake import carrying, doctor, imports, tags, texts
from compute.intake.doctor import known
from compute.intake.doctor.collections import NO_QRELS
from compute.intake.uploads import Upload
from compute.reading import database
from compute.recompute.run import remarks, said
from compute.store import run_versions
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of
from compute.store.store import Store

Answer = dict[str, Any]
RUN, BOTH = "run", "run and qrels"
"""Roles of files in addition to those that are arguments of `imports.import_dataset`."""
STRANGE = "not the missing texts"
ELSEWHERE = "choose their dataset, or “A new dataset” to import them under another name"


def ask(wanted: str, files: Sequence[Upload], **about: Any) -> Generator[Answer]:
    """Yield the answers of a process that carries out a request (a key of WANTED) with these files.
    Raises Unavailable if it ends without a final answer."""
    names = [(str(path.resolve()), name) for name, path in files]
    order = {"wanted": wanted, "files": names} | about
    words = [sys.executable, "-m", "compute.intake.upload_process"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=PROJECT, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            # The input stays open while it runs; when it closes, the process ends itself.
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("done"):
                    return
                yield _renamed(answer, names)
        except BrokenPipeError:
            pass
        finally:
            process.kill()
    raise Unavailable("the process that reads the files was killed: try fewer files at once")


def _renamed(value: Any, files: Iterable[Iterable[str]]) -> Any:
    """Return the answer with the original names of the files instead of their paths."""
    if isinstance(value, str):
        for path, called in files:
            value = value.replace(path, called)
        return value
    if isinstance(value, Mapping):
        return {key: _renamed(item, files) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, files) for item in value]
    return value


def look(bench: Bench, order: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield the doctor's report on every file, compared with a dataset if one is named."""
    against = None
    if order["dataset"]:
        row = dataset_of(bench.store, order["dataset"])
        against = known(bench.store, row)
    for (path, called), how in zip(order["files"], _hows(order), strict=True):
        report = doctor.check(Path(path), against=against, home=bench.settings.home, how=how)
        if against and texts.lacks_texts(bench.store.parts(), order["dataset"]):
            report = _held(bench, order["dataset"], Path(path), report)
        if report.refused and report.kind != "documents":
            report = _texts(bench, Path(path), report)
        tag = tags.tag(Path(path)) if "run" in report.kind else ""
        yield {"file": called, "tag": tag, "report": report.record()}


def _texts(bench: Bench, path: Path, report: doctor.Report) -> doctor.Report:
    """Return the report on a file with texts of queries or documents; return others unchanged."""
    try:
        unpacked_size.require(path, bench.settings.home)
        texts, narratives, left_out = texts_of(path)
    except (BeirscopeError, UnicodeError):
        return report
    if not texts or any("\t" in text for text in texts.values()):
        return report
    told, where = imports.left_out(left_out), doctor.Where(str(path))
    found = doctor.Finding("fields", left_out.total(), told, where, "left out", False)
    findings = (found,) if told else ()
    kind = "documents" if _is_corpus(path) else "queries"
    counts = {kind: len(texts), "narratives": len(narratives)}
    return doctor.Report(str(path), kind, {of: n for of, n in counts.items() if n}, findings)


def _is_corpus(path: Path) -> bool:
    """Return whether the first line has a title, as in BEIR's corpora but not in its queries."""
    with suppress(BeirscopeError, UnicodeError):
        return '"title"' in trec.lines(path)[0]
    return False


def _held(bench: Bench, name: str, path: Path, report: doctor.Report) -> doctor.Report:
    """Return the report on the texts that a dataset lacks, or on an archive or documents that do
    not fit it, with the reason. Reports on other files are returned unchanged."""
    if report.kind not in ("BEIR archive", "unreadable"):
        return report
    kind = "documents" if report.kind == "unreadable" else report.kind
    try:
        content = texts.looked_at(bench, dataset_of(bench.store, name), path)
    except BeirscopeError as error:
        if report.kind == "unreadable" and not _is_corpus(path):
            return report
        why = str(error).removeprefix(f"{path}: ")
        found = doctor.Finding(STRANGE, 1, why, doctor.Where(str(path)), ELSEWHERE, refused=True)
        others = report.findings if kind == report.kind else ()
        return replace(report, kind=kind, findings=(found, *others))
    others = (one for one in report.findings if not one.refused and one.what != NO_QRELS)
    counts = report.counts | {"documents": content.count.n_documents}
    return doctor.Report(str(path), kind, counts, tuple(others))


def take_runs(bench: Bench, order: Mapping[str, Any]) -> Iterator[Answer]:
    """Import every file as a run of the dataset, and yield an answer for each. A refused file does
    not stop the others."""
    row = dataset_of(bench.store, order["dataset"])
    # The user has seen the remarks on tags and has named the run, so any tag will do.
    options, taken = {"any_tag": True} | order["options"], set[str]()
    if options.get("version"):
        options["version"] = run_versions.Version(*options["version"])
    given = zip(order["files"], order["systems"], _hows(order), strict=True)
    # A run may rerank another of these files.
    for (path, called), name, how in sorted(given, key=lambda run: bool(run[2].after)):

        def take(
            path: str = path, called: str = called, name: str = name, how: shapes.How = how
        ) -> Answer:
            about = {"system": name, "spared": taken, "called": called, "how": how}
            outcome = imports.import_run(bench, Path(path), row, **about, **options)
            taken.add(outcome.hits.system)
            told = [said(bench, outcome), *remarks(outcome)]
            if options.get("version"):
                told.append(run_versions.told(outcome.hits, new=outcome.new))
            return {"system": outcome.hits.system, "said": "; ".join(told)}

        yield {"file": called, "system": name} | _answered(bench, take)
    _finish(bench)


def take_dataset(bench: Bench, order: Mapping[str, Any]) -> Iterator[Answer]:
    """Import a dataset (an archive, or judgements or runs with or without the queries' texts) or
    judgements of a stored one. Then carry over the judgements of the dataset of which it is a new
    version (`version_of`), and import the runs among the files. Yields an answer for each step."""
    files = [Upload(called, Path(path)) for path, called in order["files"]]
    given = list(zip(order["as"], files, _hows(order), strict=True))
    runs = [(file, how) for kind, file, how in given if kind in (RUN, BOTH)]
    paths, called = _made_of(given, runs)
    options = order["options"] | {"called": called, "new": order.get("new", True)}
    old = options.pop("version_of", None)
    take = partial(_dataset, bench, order["name"], paths | options)
    made = {"file": called, "system": ""} | _answered(bench, take)
    yield made
    if made["ok"] and old:
        yield {"file": f"judgements of {old}", "system": ""} | _answered(
            bench, partial(_carry, bench, old, order["name"])
        )
    if not made["ok"] or not runs:
        _finish(bench)
        return
    about = {"dataset": order["name"], "systems": order["systems"], "options": {}}
    about |= {"files": [(str(file.path), file.name) for file, _ in runs]}
    yield from take_runs(bench, about | {"how": [vars(how) for _, how in runs]})


_Given = Sequence[tuple[str, Upload, shapes.How]]


def _made_of(
    given: _Given, runs: Sequence[tuple[Upload, shapes.How]]
) -> tuple[dict[str, Any], str]:
    """Return the arguments of `imports.import_dataset`, and the files' names in its order."""
    kinds = {kind: (file, how) for kind, file, how in given if kind != RUN}
    paths: dict[str, Any] = {kind: file.path for kind, (file, _) in kinds.items()}
    if BOTH in paths:
        paths["qrels"] = paths.pop(BOTH)
    if "path" not in paths:
        paths["files"] = [(file.path, how) for file, how in runs]
    paths["how"] = next((how for kind, (_, how) in kinds.items() if kind in ("qrels", BOTH)), None)
    first = [file for kind, file, _ in given if kind not in (RUN, "queries")]
    beside = [file for kind, file, _ in given if kind == "queries"]
    rest = [] if "path" in kinds else [file for file, _ in runs if file not in first]
    return paths, ", ".join(file.name for file in [*first, *beside, *rest])


def _dataset(bench: Bench, name: str, given: Mapping[str, Any]) -> Answer:
    """Import a dataset; return the numbers of what it contains, and remarks."""
    loaded = imports.import_dataset(bench, name, **given)
    documents = loaded.documents.rows if loaded.documents else 0
    told = imports.replaced(bench.store, loaded)
    told = "; ".join([*imports.remarks(loaded), *[told] * bool(told)])
    return {
        "said": f"{counted(documents, 'document')},"
        f" {loaded.queries.rows:,} queries, {counted(loaded.judgements.rows, 'judgement')}"
        + (f"; {told}" if told else "")
    }


def _carry(bench: Bench, old: str, new: str) -> Answer:
    before, after = dataset_of(bench.store, old), dataset_of(bench.store, new)
    part, _ = carrying.carry(bench, before, after)
    return {"said": carrying.said(part)}


def take_texts(bench: Bench, order: Mapping[str, Any]) -> Iterator[Answer]:
    """Add texts or narratives to a dataset: from the only file, or else from its own source."""
    row = dataset_of(bench.store, order["dataset"])
    path, called = (*order["files"], ("", row.title))[0]

    def take() -> Answer:
        file = Path(path) if path else None
        return {"said": texts.add(bench, row, file, called=called)}

    yield {"file": called, "system": ""} | _answered(bench, take)
    _finish(bench)


def _hows(order: Mapping[str, Any]) -> list[shapes.How]:
    """Return the options for reading each file."""
    given = order.get("how") or [{}] * len(order["files"])
    return [shapes.How(**about) for about in given]


def _answered(bench: Bench, take: Callable[[], Answer]) -> Answer:
    """Return the answer of an import, or its error as a sentence."""
    try:
        return {"ok": True} | take()
    except BeirscopeError as error:
        return {"ok": False, "said": str(error)}
    except Exception as error:
        return {"ok": False, "said": _failure(bench, error)}


def _failure(bench: Bench, error: Exception) -> str:
    refused = disk_refusals.refusal(error, bench.settings.home)
    return str(refused or bug_reports.said(bench.settings, "import", error))


def _finish(bench: Bench) -> None:
    database.write_database(bench.store)
    bench.store.tidy()


WANTED: Mapping[str, Callable[[Bench, Mapping[str, Any]], Iterator[Answer]]] = {
    "look": look,
    "take runs": take_runs,
    "take dataset": take_dataset,
    "take texts": take_texts,
}


def main() -> None:
    """Carry out a request, and end with the process that sent it."""
    os.nice(10)  # readers of the dashboard come first
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_watch, daemon=True).start()
    now = settings.load()
    bench = Bench(Store(now), now)
    try:
        for answer in WANTED[order["wanted"]](bench, order):
            _say(answer)
    except BeirscopeError as error:
        _say({"error": str(error)})
    except Exception as error:
        _say({"error": _failure(bench, error)})
    _say({"done": True})


def _watch() -> None:
    sys.stdin.read()
    os._exit(1)


def _say(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""The Import section of the Data page: files are checked first, then imported."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import streamlit as st
from pandas import DataFrame, Series

from compute.base.errors import BeirscopeError, WrongInput
from compute.base.words import counted
from compute.datasets import DATASETS
from compute.datasets.catalogue import own
from compute.intake import tags, upload_process, uploads
from compute.intake import texts as adding_texts
from compute.views.data import importing as figures
from compute.views.data import select as data_select
from compute.views.shared import catalogue
from pages._shared import (
    address,
    dataset_facts,
    drawing,
    escaping,
    failures,
    navigation,
    pickers,
    reading,
    sign_in,
    uploaded,
)
from pages._shared.pickers import pick
from pages._shared.reading import read
from pages._shared.uploaded import File

NEW = "A new dataset"
_ARCHIVE = "BEIR archive"
_TEXTS = (_ARCHIVE, "documents")
_ADDED = (*_TEXTS, "queries")
_MAKERS = {_ARCHIVE: "path", "qrels": "qrels", "run and qrels": "run and qrels"}
"""Kinds of files that define a dataset, with their names in an import."""
_KINDS = _MAKERS | {"queries": "queries", "run": "run"}
_FIRST, _NONE = "Reranks", "–"
_RERANKS = "The system whose lists this run reranks, if it does"
_RUNS_ONLY = "No judgements? Import the runs, compare their rankings, then judge documents."
_UNSCORED = "Without judgements, runs can only be compared; with judgements they are also scored."
_WIDTHS = {"Issues": 80, "Count": 70, "Line": 70, "Blocks import": 100, "Outcome": 90}
NARROW: dict[str, Any] = {
    name: st.column_config.Column(width=width) for name, width in _WIDTHS.items()
}
"""Columns of short words are narrow, which leaves room for sentences."""
Answers = list[dict[str, Any]]
"""An answer for each checked file: file (its name), tag, and report (kind, counts, refused …)."""


def section() -> None:
    """Draw the target of the files, the report on them, and the import."""
    if not sign_in.may(sign_in.OPERATOR):
        drawing.caption(sign_in.told(sign_in.OPERATOR))
        return
    above = st.container()
    to = _dataset()
    files = _files(to)
    with above:
        _tell_results(to, files)
    if not files:
        drawing.caption(
            "Files are checked first; nothing is imported until you confirm.",
            "" if to == NEW else "For a dataset that is not in the list, choose “A new dataset”.",
            _RUNS_ONLY * (st.query_params.get("have") == "runs"),
        )
        return
    with st.container():  # without it, parts below would move and appear twice while being drawn
        reports = _looked_at(to, files)
        _ask(reports, files)
    kinds = list(_KINDS) if to == NEW else _addable(to)
    _report(reports, kinds)
    if to == NEW:
        _new_dataset(reports, files)
    elif "qrels" in kinds and len(files) == 1 and _is_fit(reports[0], "qrels"):
        _judgements(to, files)
    elif len(files) == 1 and reports[0]["report"]["kind"] in {*_ADDED} & {*kinds}:
        _texts(to, reports[0], files)
    else:
        _runs(to, reports, files)
    if to != NEW:  # There the reason stands beside the name.
        _tell_refused()


def _dataset() -> str:
    """Draw a picker of the dataset into which files are imported, and return its value."""
    stored = read(data_select.datasets)
    if new := st.session_state.pop("_made_dataset", ""):
        pickers.put(to=new)
    known = stored.loc[stored["n_queries"].notna(), "dataset"].tolist()
    names = [NEW, *known]
    address.known("to", names, "dataset that is stored")
    with pickers.pickers():
        titles = dataset_facts.titles()
        return pick("Import into", names, "to", width=320, titles=titles)


def _addable(to: str) -> list[str]:
    """Return the kinds of files that a stored dataset takes."""
    is_unjudged = to in set(read(catalogue.unjudged, added=False)["dataset"])
    return ["run", "queries", *_TEXTS * _lacks_texts(to), *["qrels"] * is_unjudged]


def _lacks_texts(to: str) -> bool:
    return adding_texts.lacks_texts(reading.parts(), to)


def _is_fit(answer: dict[str, Any], kind: str) -> bool:
    """Return true if a checked file is of this kind and can be imported."""
    report = answer.get("report", {})
    return kind in report.get("kind", "") and not report["refused"]


def _files(to: str) -> list[File]:
    """Draw the field for files; return the uploaded files, and those inside uploaded archives."""
    number = st.session_state.setdefault("_uploads", 0)
    kinds = [ending[1:] for ending in uploads.ENDINGS]
    key = f"_files_{number}"
    files = st.file_uploader(_asked(to), kinds, accept_multiple_files=True, key=key)
    return uploaded.opened(reading.store().settings, files)


def _asked(to: str) -> str:
    if to == NEW:
        return (
            "Drop everything here: BEIR zip, qrels, topics and run files (TREC, JSON, CSV, Parquet"
            " and others). Runs are enough"
        )
    texts = "; the missing texts (corpus.jsonl, or a BEIR zip)" if _lacks_texts(to) else ""
    runs = "Run files: TREC, JSON, CSV, Parquet and others, plain or compressed"
    return f"{runs}{texts}; or topics with narratives"


def _looked_at(to: str, files: Sequence[File]) -> Answers:
    """Return reports on the files, recomputed if the files or the dataset change."""
    hows = _hows(files)
    key = to, tuple(file.file_id for file in files), str(hows)
    if st.session_state.get("_looked_at", ("", []))[0] != key:
        dataset = "" if to == NEW else to
        found = _work("Looking at", files, "look", dataset=dataset, how=hows)
        st.session_state["_looked_at"] = key, found
    return st.session_state["_looked_at"][1]


def _hows(files: Sequence[File], runs: DataFrame | None = None) -> list[dict[str, Any]]:
    """Return how to read each file, by the user's answers and the table's first stages."""
    said = st.session_state.get("_said_of_files", {})
    pairs = () if runs is None else zip(runs["File"], runs[_FIRST], strict=True)
    firsts = {file: {"after": first} for file, first in pairs if first not in ("", _NONE)}
    return [said.get(file.file_id, {}) | firsts.get(file.name, {}) for file in files]


def _say(files: Sequence[File], **how: Any) -> None:
    """Store how to read these files."""
    said = st.session_state.setdefault("_said_of_files", {})
    for file in files:
        said[file.file_id] = said.get(file.file_id, {}) | how


def _ask(answers: Answers, files: Sequence[File]) -> None:
    """Ask for information that the files lack: run or judgements, fractional grades, chunks."""
    of = {what: _asking(answers, files, what) for what in figures.QUESTIONS}
    for file, said in of[figures.ROLE]:
        drawing.caption(f"{file.name}: {said}.")
        with st.container(horizontal=True):
            for role, label in figures.ROLES.items():
                key = f"_as_{role}_{file.file_id}"
                st.button(label, key=key, on_click=_say, args=[[file]], kwargs={"role": role})
    if chunks := [file for file, _ in of[figures.CHUNKS]]:
        label = "Merge chunks into documents, each at its best rank"
        st.button(label, on_click=_say, args=[chunks], kwargs={"fold": True})
    if graded := [file for file, _ in of[figures.FRACTIONS]]:
        label = "Round grades to whole numbers, halves up"
        st.button(label, on_click=_say, args=[graded], kwargs={"rounded": True})


def _asking(answers: Answers, files: Sequence[File], what: str) -> list[tuple[File, str]]:
    """Return the files for which question `what` is open, each with the issue."""
    both = zip(answers, files, strict=False)
    found = [(file, figures.asked(answer.get("report", {}), what)) for answer, file in both]
    return [(file, said) for file, said in found if said]


def _work(verb: str, files: Sequence[File], wanted: str, **about: Any) -> Answers:
    """Return a separate process's answers on the files, showing its progress. `wanted` names the
    work, and `verb` describes it."""
    sign_in.require(sign_in.OPERATOR)
    now = reading.store().settings
    answers: Answers = []
    several = len(files) > 1
    bar = st.progress(0.0) if several else st.empty()
    at_work = counted(len(files), "file") if several else files[0].name
    with (
        st.spinner(escaping.text(f"{verb} {at_work}"), show_time=True),
        uploads.kept(now, [(file.name, file) for file in files]) as kept,
        closing(upload_process.ask(wanted, kept, **about)) as told,
    ):
        for answer in told:
            if "error" in answer:
                raise WrongInput(answer["error"])
            answers.append(answer)
            if several:
                done = min(len(answers) / len(files), 1.0)
                bar.progress(done, escaping.text(f"{verb} {answer['file']}"))
    bar.empty()
    return answers


def _report(answers: Answers, kinds: Sequence[str]) -> None:
    """Draw the content and issues of the files; files of other `kinds` cannot be imported here."""
    reports = [answer["report"] for answer in answers if "report" in answer]
    st.header("Content of the files", anchor=False)
    rows = figures.contents(reports, kinds)
    if len(reports) == 1:
        # A cell of the table would truncate the content of an archive.
        _table(rows.drop(columns="Content"))
        drawing.caption(figures.inside(reports[0]))
    else:
        _table(rows)
    for answer in answers:
        if "report" not in answer:
            drawing.caption(f"{answer['file']}: {answer['said']}.")
    troubles = figures.troubles(reports)
    if troubles.empty:
        st.success("No issues found.", icon=":material/check:")
        return
    stopped = any(report["refused"] for report in reports)
    heading = "Errors and warnings" if stopped else "Warnings (import can proceed)"
    st.header(heading, anchor=False)
    _table(troubles if stopped else troubles.drop(columns="Blocks import"))
    if stopped:
        drawing.caption("Files with a blocking error are left out.")


def _table(rows: DataFrame) -> None:
    """Draw a short table in full; a table of more than 20 rows scrolls, with a note."""
    st.dataframe(rows, hide_index=True, column_config=NARROW, **drawing.height(len(rows)))
    if len(rows) > drawing.MOST_ROWS:
        drawing.caption(f"{len(rows):,} rows; scroll to see all of them.")


def _runs(to: str, answers: Answers, files: Sequence[File]) -> None:
    """Draw the names of the runs, and the button that imports them."""
    both = zip(answers, files, strict=True)
    fit = [(answer, file) for answer, file in both if _is_fit(answer, "run")]
    if not fit:
        st.info(
            "None of these files is a run. If their dataset is not stored yet, choose “A new"
            f" dataset” above. {escaping.text(figures.stopped(answers))}"
        )
        return
    st.header("Import", anchor=False)
    stored = [part.system for part in reading.store().parts("hits", to)]
    chosen = _names([answer for answer, _ in fit], stored)
    options = _options()
    picked = [place for place, wanted in enumerate(chosen["Import"]) if wanted]
    label = f"Import {counted(len(picked), 'run')}"
    names = [chosen["System"].iloc[place] or "" for place in picked]
    blocked = _warn(to, names, options)
    if st.button(label, type="primary", disabled=not picked or blocked):
        wanted = [fit[place][1] for place in picked]
        about = {"dataset": to, "systems": names, "options": options}
        about |= {"how": _hows(wanted, chosen)}
        told = _work("Taking in", wanted, "take runs", **about)
        left = [answer["file"] for place, (answer, _) in enumerate(fit) if place not in picked]
        _done(to, told + figures.refusals(answers), left)


def _options() -> dict[str, Any]:
    """Draw the options of `imports.import_run` and return them; a version has label and note."""
    repeat = st.toggle(
        "Files of the same name are runs of one system",
        help="For example with rebuilt indexes: the system's scores are means over its runs. Files"
        " with the name of a stored system are added to its runs.",
    )
    replaces = st.toggle("Replace runs that have the same name")
    version = None
    if replaces and st.toggle(
        "Keep the replaced runs as versions",
        help="The Dataset page lists them; they are used only where you choose them.",
    ):
        version = "", st.text_input("What is new in these runs", max_chars=200)
    equal_ids = st.toggle(
        "Drop documents whose id equals the query's",
        help="As BEIR's code does; always done if queries are documents of the corpus.",
    )
    about = {"replace": replaces, "drop_equal_ids": equal_ids, "version": version}
    return about | {"repeat": repeat}


def _warn(to: str, names: Sequence[str], options: dict[str, Any]) -> bool:
    """Warn of names shared by several files or with stored runs; return true if that blocks."""
    stored = {part.system for part in reading.store().parts("hits", to)}
    same = [] if options["repeat"] else figures.repeated(names)
    if same:
        st.warning(escaping.text(_several(same)))
    how = {name: options[name] for name in ("replace", "repeat")}
    how["as_version"] = options["version"] is not None
    if words := figures.taken(names, stored, to, **how):
        st.warning(escaping.text(words))
    return bool(same)


def _several(names: Sequence[str]) -> str:
    return f"Several runs have the name {', '.join(names)}: give each its own name, or skip some."


def _texts(to: str, answer: dict[str, Any], files: Sequence[File]) -> None:
    """Draw the button that adds texts to a dataset, or say why the texts do not fit."""
    kind = "narratives" if answer["report"]["kind"] == "queries" else "texts"
    st.header(f"Add {kind}", anchor=False)
    if answer["report"]["refused"]:
        st.error(escaping.text(f"Nothing can be added: {figures.stopping(answer['report'])}."))
        return
    drawing.caption(
        f"The documents match {to}." * (kind == "texts"),
        f"Only {kind} are added; runs, judgements and costs do not change.",
    )
    if st.button(escaping.text(f"Add the {kind} of {to}"), type="primary"):
        _done(to, _work("Taking in", files, "take texts", dataset=to), [])


def _names(answers: Answers, stored: Sequence[str] = ()) -> DataFrame:
    """Draw the runs to import, with names and first stages, and return the edited table."""
    runs = [tags.Tagged(answer["file"], answer["tag"]) for answer in answers]
    called = tags.names(runs)
    rows = DataFrame({"Import": True, "File": [run.file for run in runs], "System": called})
    rows[_FIRST] = Series([_NONE] * len(rows), dtype="str")
    firsts = st.column_config.SelectboxColumn(
        options=[_NONE, *dict.fromkeys([*stored, *called])], required=True, help=_RERANKS
    )
    chosen = st.data_editor(
        rows,
        hide_index=True,
        disabled=["File"],
        **drawing.height(len(rows)),
        column_config={"Import": st.column_config.CheckboxColumn(width=90), _FIRST: firsts},
        key=f"_names_{hash(st.session_state['_looked_at'][0])}",
    )
    drawing.caption(
        "System: the run's name (default: the tag in the file). Double-click to change it.",
        *(f"{words}." for words in tags.renamed(runs, called)),
    )
    return chosen


def _judgements(to: str, files: Sequence[File]) -> None:
    """Draw the button that adds a dataset's first judgements."""
    st.header("Add judgements", anchor=False)
    drawing.caption(f"{to} has no judgements yet. Its runs will be scored.")
    if st.button(escaping.text(f"Add the judgements of {to}"), type="primary"):
        about = {"name": to, "as": ["qrels"], "systems": [], "options": {}, "new": False}
        _done(to, _work("Taking in", files, "take dataset", **about, how=_hows(files)), [])


def _new_dataset(answers: Answers, files: Sequence[File]) -> None:
    """Draw the name, options and runs of a new dataset, and the button."""
    fit = [(a, f) for a, f in zip(answers, files, strict=True) if _kind(a)]
    kinds = [_kind(answer) for answer, _ in fit]
    makers = [one for one, kind in zip(fit, kinds, strict=True) if kind in _MAKERS.values()]
    runs = [answer for answer, _ in fit if _is_fit(answer, "run")]
    if len(makers) > 1 or kinds.count("queries") > 1 or not (makers or runs):
        st.info(
            "A new dataset takes one BEIR archive, or at most one qrels file and one topics file,"
            f" with any number of runs. {escaping.text(figures.stopped(answers))}"
        )
        return
    st.header("The new dataset", anchor=False)
    drawing.caption(_UNSCORED * (not makers))
    place, said = st.empty(), st.container()
    given, chosen, left = _chosen(fit, runs)
    with place.container():
        report = makers[0][0]["report"] if makers else {"kind": "", "counts": {}}
        name, options, pressed = _form(report, "Import")
    with said:
        is_allowed = pressed and _is_allowed(name, options["language"], chosen["System"])
        _tell_refused()
    if is_allowed:
        about = {"name": name, "as": [kind for kind, _ in given], "options": options}
        about |= {"systems": chosen["System"].fillna("").tolist()}
        about |= {"how": _hows(made_of := [file for _, file in given], chosen)}
        with place.container():  # shown instead of the button
            told = _work("Taking in", made_of, "take dataset", **about)
        refused = figures.refusals(one for one in answers if not _kind(one))
        _done(name, told + refused * told[0]["ok"], sorted(left), lands=True)


def _is_allowed(name: str, language: str, systems: Series) -> bool:
    """Return true if a dataset can have this name and runs of these systems; if not, say why,
    before files are read."""
    if not name:
        st.error("The dataset needs a name: fill in Name above.")
        return False
    if same := figures.repeated(name for name in systems if name):
        st.error(escaping.text(_several(same)))
        return False
    try:
        own(name, language=language)
    except BeirscopeError as error:
        failures.show_error(error)
        return False
    if name in set(read(data_select.datasets)["dataset"]):
        st.error(
            f"{name} is already stored. Choose another name, or choose {name} above to add to it."
        )
        return False
    return True


def _chosen(
    fit: Sequence[tuple[dict[str, Any], File]], runs: Answers
) -> tuple[list[tuple[str, File]], DataFrame, set[str]]:
    """Draw the table of runs; return (kind, file) of imports, wanted rows, and skipped files."""
    chosen = _names(runs) if runs else DataFrame(columns=["Import", "File", "System", _FIRST])
    wanted = chosen["Import"].astype(bool)
    left = {*chosen.loc[~wanted, "File"]}
    given = [
        ("qrels" if answer["file"] in left else _kind(answer), file)
        for answer, file in fit
        if answer["file"] not in left or _kind(answer) != "run"
    ]
    return given, chosen[wanted], left


def _kind(answer: dict[str, Any]) -> str:
    """Return the name of a file's kind in an import; empty for a refused file."""
    report = answer.get("report", {})
    return "" if report.get("refused") else _KINDS.get(report.get("kind", ""), "")


def _form(report: figures.Record, label: str) -> tuple[str, dict[str, Any], bool]:
    """Return the name, the options, and whether the button `label` was pressed."""
    with st.form("_new_dataset", border=False):
        with pickers.pickers():
            name = st.text_input("Name (letters, digits, . _ -)", _suggested(report), width=240)
            split = _split(report)
            language = st.text_input("Language", value="en", width=110, max_chars=8)
            level = 1
            if report["kind"]:  # runs by themselves have no grades
                level = st.number_input("Lowest relevant grade", min_value=1, width=170)
            old = _version_of() if report["kind"] == _ARCHIVE else None
        drop = st.toggle(
            "Drop documents whose id equals the query's",
            help="For queries that are documents of the corpus, as in Quora",
        )
        pressed = st.form_submit_button(label, type="primary")
    spoken = language.strip() or "unknown"
    options = {"split": split, "language": spoken, "drop_self": drop, "level": level}
    return name.strip(), options | {"version_of": old}, pressed


def _suggested(report: figures.Record) -> str:
    """Return a free name for the dataset: an archive's, else `my-data`, numbered if it is taken."""
    known = {part for row in DATASETS.values() for part in (row.name, row.collection)}
    taken = {name.casefold() for name in known.union(read(data_select.datasets)["dataset"])}
    return figures.free_name(report.get("path", "") * (report["kind"] == _ARCHIVE), taken)


def _version_of() -> str | None:
    """Return the stored dataset of which this is a new version; its judgements are carried over."""
    stored = read(data_select.datasets)
    return st.selectbox(
        "A new version of",
        stored.loc[stored["has_documents"] & (stored["n_judgements"] > 0), "dataset"].tolist(),
        index=None,
        placeholder="none",
        width=200,
        help=(
            "Its judgements are matched by document text and become a separate judgement set."
            " Documents may have different ids or edited texts, or be split into chunks."
        ),
    )


def _split(report: figures.Record) -> str:
    """Return the judgement set that the user chooses if an archive has several."""
    splits = figures.splits(report)
    if len(splits) < 2:
        return ""
    names = list(splits)
    return st.selectbox(
        "Judgements",
        names,
        index=names.index("test") if "test" in names else 0,
        format_func=lambda name: f"{name}: {splits[name]}",
        width=300,
        help=(
            "A dataset has one split. To add another split, import the archive again under a"
            " different name."
        ),
    )


def _done(to: str, answers: Answers, left: Sequence[str], *, lands: bool = False) -> None:
    """Store each file's outcome and restart at the top with the new data and without the files. If
    a new dataset was fully imported and `lands`, open its page or Compare. If nothing was imported,
    the files stay, with the reason under the button."""
    if not any(answer["ok"] for answer in answers):
        st.session_state["_refused"] = st.session_state["_looked_at"][0], answers
        st.rerun()
    st.session_state["_imported"] = to, answers, list(left)
    is_whole = all(answer["ok"] for answer in answers)
    st.toast(escaping.text(f"{to}: {figures.outcome(answers)}"))
    navigation.at_top()
    st.session_state["_uploads"] += 1
    uploaded.forget()
    st.session_state.pop("_looked_at", None)
    reading.AHEAD.await_published()
    if lands:
        st.session_state["_made_dataset"] = to
    if lands and is_whole:
        runs = sum(bool(answer["system"]) for answer in answers)
        navigation.to("compare" if runs > 1 else "dataset", dataset=to)
    st.rerun()


def _tell_refused() -> None:
    """Say why nothing in these files was imported."""
    about, answers = st.session_state.get("_refused", (None, []))
    if answers and about == st.session_state["_looked_at"][0]:
        why = f" {answers[0]['said']}" if len(answers) == 1 else ""
        st.error(escaping.text(f"Nothing was imported.{why}"))
        _table(figures.results(answers))


def _tell_results(of: str, files: Sequence[File]) -> None:
    """Draw the outcome of the last import, until other files or another dataset are chosen."""
    to, answers, left = st.session_state.get("_imported", ("", [], []))
    if to != of or files:
        st.session_state.pop("_imported", None)
        return
    st.header(escaping.text(f"Imported into {to}"), anchor=False)
    _table(figures.results(answers))
    drawing.caption(
        f"{figures.outcome(answers)}.",
        f"Skipped, as you chose: {', '.join(left)}." if left else "",
    )
    with st.container(horizontal=True):
        address.link("Open the dataset", "pages/dataset.py", dataset=to)
        texts = any(part.rows for part in reading.store().parts("documents", to))
        if texts and any(answer["ok"] and not answer["system"] for answer in answers):
            address.link("Run systems on it", "pages/jobs.py", datasets=to)
        if texts and reading.store().parts("hits", to):
            address.link("Read its queries", "pages/query.py", dataset=to)
        if any(answer["ok"] and answer["system"] for answer in answers):
            group = {} if to in DATASETS else {"group": "own"}
            address.link("Open in Leaderboard", "pages/leaderboard.py", numbers="Computed", **group)

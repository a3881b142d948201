"""What may be called, what may be uploaded, and what must never be told."""

import ast
import io
import json
import logging
import re
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from compute import jobs
from compute.__main__ import main
from compute.base import bug_reports, printable, redaction
from compute.base.errors import BeirscopeError, WrongInput
from compute.base.settings import PROJECT, Settings
from compute.commands import app
from compute.intake import uploads
from compute.jobs import logs, steps
from compute.store.loading import quiet
from compute.store.store import Store
from tests.commands.arguments import arguments
from tests.support import hostile

SOURCES = [PROJECT / "app.py", *(PROJECT / "compute").rglob("*.py"), *PROJECT.glob("pages/**/*.py")]
RUNNING = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "_pickle", "jsonpickle"}
"""Modules whose files run code when they are read."""
CALLED = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load"}
"""Functions that run what they are given."""
MARKER = "marker-4f1c"


def _name(node: ast.expr) -> str:
    """`os.system` of a call's function; empty for anything that is no plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _name(node.value)
        return f"{before or '?'}.{node.attr}"
    return ""


def _faults(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [one.name for one in node.names]
            if isinstance(node, ast.ImportFrom):
                # What only writes runs nothing.
                harmless = node.module == "pickle" and set(names) <= {"PicklingError", "dumps"}
                names = [] if harmless else [node.module or ""]
            yield from (name for name in names if name.split(".")[0] in RUNNING)
        elif isinstance(node, ast.Call):
            yield from _of_call(_name(node.func), node.keywords)


def _of_call(name: str, keywords: list[ast.keyword]) -> Iterator[str]:
    given = {one.arg: ast.unparse(one.value) for one in keywords}
    last = name.rpartition(".")[2]
    if name in CALLED or last in ("read_pickle", "to_pickle"):
        yield name
    for option in ("shell", "allow_pickle", "trust_remote_code", "unsafe_allow_html"):
        if given.get(option, "False") != "False":
            yield f"{name}({option}={given[option]})"
    if name in ("torch.load", "load") and "torch" in name and given.get("weights_only") != "True":
        yield f"{name} without weights_only"


@pytest.mark.long
def test_nothing_runs_what_it_reads() -> None:
    found = {str(file): list(_faults(ast.parse(file.read_text("utf-8")))) for file in SOURCES}
    assert len(found) > 100
    assert {file: faults for file, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from joblib import load",
        "eval(x)",
        "torch.load(f)",
        "torch.load(f, weights_only=False)",
        "np.load(f, allow_pickle=True)",
        "subprocess.run(x, shell=True)",
        "AutoModel.from_pretrained(x, trust_remote_code=True)",
        "st.markdown(x, unsafe_allow_html=True)",
        "pd.read_pickle(f)",
    ],
)
def test_the_search_finds_what_would_run(code: str) -> None:
    assert list(_faults(ast.parse(code)))


def test_streamlit_is_closed_by_default() -> None:
    told = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text("utf-8"))
    server = told["server"]
    assert server["address"] == "127.0.0.1"
    assert server["enableXsrfProtection"] and server["enableCORS"]
    # A page elsewhere whose name resolves to this machine may not drive it (DNS rebinding).
    assert server["allowedHosts"] == ["localhost", "127.0.0.1", "::1"]
    assert told["browser"]["gatherUsageStats"] is False
    assert told["client"]["showErrorDetails"] == "none"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([("a.exe", 1)], "not of a supported kind"),
        ([("a.run.exe", 1)], "not of a supported kind"),
        ([("run", 1)], "not of a supported kind"),
        ([("a.run", 3 * 1024**2)], "larger than 2 MB"),
        ([("a.run", 1024**2 + 1), ("b.run", 1024**2)], "together larger than 2 MB"),
        ([("a.run", 1)] * 101, "too many at once"),
    ],
)
def test_what_may_not_be_uploaded_is_answered(sizes: list[tuple[str, int]], said: str) -> None:
    with pytest.raises(WrongInput, match=said):
        uploads.check(Settings(upload_megabytes=2), sizes)


def test_an_uploaded_file_names_no_path_and_goes_with_its_use(tmp_path: Path) -> None:
    now = Settings(home=tmp_path)
    names = (
        "../../etc/cron.d/x.run.gz",
        "C:\\x\\a.TSV",
        "\x1b[31m.zip",
        "-rf.txt",
        "é" * 300 + ".run",
    )
    files = [(name, io.BytesIO(name.encode())) for name in names]
    with uploads.kept(now, files) as found:
        assert [one.path.name for one in found] == ["0.run.gz", "1.tsv", "2.zip", "3.txt", "4.run"]
        assert {one.path.parent.parent for one in found} == {tmp_path / "uploads"}
        assert [one.path.read_bytes() for one in found] == [name.encode() for name in names]
        assert [one.name for one in found[:2]] == ["x.run.gz", "a.TSV"]
        assert len(found[4].name) == uploads.LONGEST and found[4].name.endswith(".run")
    assert list((tmp_path / "uploads").iterdir()) == []


ADDRESS = f"postgresql://user:{MARKER}@127.0.0.1:9/nothing"


def _everything(folder: Path) -> str:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return "\n".join(file.read_bytes().decode("utf-8", "replace") for file in files)


def test_the_password_of_the_database_is_in_no_sentence_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    now = Settings(home=tmp_path / "home", state=ADDRESS)
    said = []
    for forced in (
        lambda: Store(now).version(),
        lambda: jobs.listed(now),
        lambda: jobs.job(now, "x"),
    ):
        try:
            forced()
        except BeirscopeError as error:
            bug_reports.record(now, "here", error)
            said.append(str(error))
    assert len(said) == 3
    assert MARKER not in "\n".join([*said, caplog.text, _everything(tmp_path)])


@pytest.mark.parametrize("words", [["datasets"], ["jobs", "list"], ["jobs", "start", "demo"]])
def test_no_command_tells_a_secret_of_the_environment(
    words: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = {
        "BEIRSCOPE_HOME": str(tmp_path / "home"),
        "BEIRSCOPE_STATE": ADDRESS,
        "HF_TOKEN": f"hf_{MARKER}",
        "HTTPS_PROXY": f"http://user:{MARKER}@127.0.0.1:9",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    assert main(words) == 2
    told = "".join(capfd.readouterr())
    assert "127.0.0.1:9" in told and "Traceback" not in told
    assert MARKER not in told + _everything(tmp_path)


def test_a_bug_is_logged_without_what_the_settings_keep_secret(tmp_path: Path) -> None:
    now = Settings(home=tmp_path, state=ADDRESS)
    try:
        raise RuntimeError(f"could not connect to {ADDRESS} with {now}")
    except RuntimeError as error:
        _, log = bug_reports.record(now, "here", error)
    assert log
    words = log.read_text("utf-8")
    assert MARKER not in words and "could not connect to postgresql://user:" in words


@pytest.mark.parametrize("word", [MARKER, f"{MARKER}/of", f"a/{MARKER}"])
def test_passwords_in_addresses_are_masked(word: str) -> None:
    assert MARKER not in redaction.masked(f"at postgresql://user:{word}@host/name, again", {})


def test_the_log_of_a_step_that_met_a_bug_has_no_secret(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = steps._answer(Settings(home=tmp_path), quiet, {"step": ADDRESS, "job": ""})
    assert answer["error"].startswith("a bug in Beirscope")
    told = capfd.readouterr().err
    assert "Traceback" in told and "postgresql://user:***@" in told and MARKER not in told


def test_every_job_that_a_page_starts_names_who_started_it() -> None:
    pages = [ast.parse(file.read_text("utf-8")) for file in PROJECT.glob("pages/**/*.py")]
    calls = [node for tree in pages for node in ast.walk(tree) if isinstance(node, ast.Call)]
    starts = [call for call in calls if _name(call.func) == "jobs.start"]
    assert len(starts) >= 3
    for call in starts:
        assert "person" in [word.arg for word in call.keywords], ast.unparse(call)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return hostile.make(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize(
    "words",
    [
        ["datasets"],
        ["scores"],
        ["efficiency"],
        ["tasks", "list"],
        ["check", "beir"],
        ["run", "\x1b[31m\x9b31m", "hostile"],
        ["scores", "--system", "\x1b]0;title\x07"],
    ],
)
def test_no_command_writes_what_a_terminal_obeys(
    attacked: Settings,
    words: list[str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(attacked.home))
    monkeypatch.chdir(attacked.home.parent)
    main(words)
    told = "".join(capfd.readouterr())
    assert not [c for c in told if not c.isprintable() and c not in "\n\r\t"], told


ODD = "a\x1b[31m\x9b31m\u202e\x07\r\nb"
"""What a terminal obeys, and what would make one line two."""
FREE = {"serve", "worker", "admin demo", "admin ship"}
"""Commands that would do something whatever else they are told."""
GIVEN = {
    **{"dataset": "hostile", "datasets": "hostile", "system": "bm25", "name": "x", "files": "odd"},
    **{"path": "beir", "runs": "x", "baseline": "x", "candidate": "x", "task": "x", "kind": "run"},
    **{"file": "odd", "folder": "odd", "machine": "m", "pairs": "1", "slice": "x", "out": "x.csv"},
    **{"all": "x", "a": "x", "b": "y", "systems": "x", "documents": "1"},
    **{"one": "hostile", "other": "hostile", "old": "hostile", "new": "hostile"},
}


def _arguments(command: str) -> Iterator[list[str]]:
    """Every argument of a command that takes a word, with a hostile one; of the others what is
    needed."""
    taken = [one for one in arguments(command) if one.hint is not bool]
    for odd in taken:
        words = command.split(" ")
        for one in taken:
            if one is not odd and not one.required:
                continue
            word = GIVEN[one.name.lower().removeprefix("--")] if one is not odd else ODD
            option = [one.name] if one.name.startswith("-") else []
            words += [*option, *[word] * one.token_count()[0]]
        yield words


@pytest.mark.parametrize(
    "command",
    [
        # It draws all there is to a folder of such a name.
        pytest.param(name, marks=pytest.mark.long if name == "export figures" else ())
        for name in sorted({*app.NAMES} - FREE)
    ],
)
def test_no_word_of_any_argument_reaches_a_terminal_as_it_is(
    command: str,
    attacked: Settings,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(attacked.home))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")
    monkeypatch.chdir(tmp_path)
    # Several files of such names, with such words in them: those of a folder are told one by one.
    for folder in (tmp_path, tmp_path / "odd"):
        folder.mkdir(exist_ok=True)
        (folder / ODD).write_text(f"{ODD.replace(chr(10), '')} Q0 d 1 x t\n", "utf-8")
        (folder / f"{ODD}2").write_text("q Q0 d 1\n", "utf-8")
    with zipfile.ZipFile(tmp_path / f"{ODD}.zip", "w") as archive:
        archive.writestr(f"../{ODD}", "x")
        archive.writestr("corpus.jsonl", "x")
    for words in [*_arguments(command), [*command.split(" "), *EXTRA.get(command, ())]]:
        main(words)
        told = "".join(capfd.readouterr())
        lines = [line for line in told.split("\n") if not line.isprintable()]
        assert not lines and "bug " not in told and "Traceback" not in told, (words, told)


EXTRA = {
    "check": ["odd", f"{ODD}.zip", ODD],
    "import-dataset": [f"{ODD}.zip", "--name", "x"],
    "import-run": ["odd", "--dataset", "hostile"],
    "import-labels": [ODD, "--dataset", "hostile"],
    "import-grades": [ODD, "--dataset", "hostile", "--machine", "x"],
    "judgements import": [ODD, "--dataset", "hostile"],
    "sets": ["--dataset", "hostile", "--json"],
    "leakage find": ["--dataset", "hostile", "--training", ODD],
    "add-texts": ["hostile", f"{ODD}.zip"],
}
"""A command each that reads what has such a name and such content."""


def test_a_log_obeys_nobody(tmp_path: Path) -> None:
    record = logging.LogRecord("x", logging.ERROR, "", 0, "met %s", (ODD,), None)
    assert redaction.Formatter("%(message)s").format(record).isprintable()
    now = Settings(home=tmp_path)
    logs.write(now, "run-0123456789ab", f"met {ODD}")
    lines = logs.file(now, "run-0123456789ab").read_text("utf-8").split("\n")
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("word", [ODD, "\U000e0001", "\ud83d", "é ü 漢"])
def test_json_stays_the_same_json(word: str, capfd: pytest.CaptureFixture[str]) -> None:
    printable.say_text(json.dumps([word], indent=1, ensure_ascii=not word.isprintable()))
    told = capfd.readouterr().out
    assert json.loads(told) == [word] and all(line.isprintable() for line in told.split("\n"))


def test_commands_print_through_one_door() -> None:
    past = re.compile(r"sys\.std(out|err)\.write|\bprint\(")
    files = [*(PROJECT / "compute" / "commands").rglob("*.py"), PROJECT / "compute/__main__.py"]
    assert [file for file in files if past.search(file.read_text("utf-8"))] == []


def test_a_changed_setting_is_another(tmp_path: Path) -> None:
    assert MARKER not in repr(replace(Settings(home=tmp_path), state=ADDRESS))

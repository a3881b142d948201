"""The lines between the layers: who may import what, and how large things may grow."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.base.settings import PROJECT

COMPUTE = sorted((PROJECT / "compute").rglob("*.py"))
PAGES = sorted((PROJECT / "pages").rglob("*.py"))
TESTS = sorted((PROJECT / "tests").rglob("*.py"))
HEAVY = ("torch", "faiss", "transformers", "sentence_transformers", "jnius", "pyserini")


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def _functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function without its docstring."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("file", COMPUTE, ids=lambda file: str(file.relative_to(PROJECT)))
def test_compute_never_imports_streamlit(file: Path) -> None:
    assert "streamlit" not in set(_imports(file))


@pytest.mark.parametrize("file", [*PAGES, PROJECT / "app.py"], ids=lambda file: file.name)
def test_pages_never_import_duckdb(file: Path) -> None:
    assert not {"duckdb", "sqlalchemy", *HEAVY} & set(_imports(file))


def test_one_module_opens_duckdb() -> None:
    opening = [file for file in COMPUTE if "duckdb.connect(" in file.read_text("utf-8")]
    assert opening == [PROJECT / "compute" / "base" / "scratch_database.py"]


@pytest.mark.parametrize(
    "file", [*COMPUTE, *PAGES, *TESTS], ids=lambda f: str(f.relative_to(PROJECT))
)
def test_modules_stay_under_600_lines(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) <= 600


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_pages_stay_under_60_lines(file: Path) -> None:
    if not file.name.startswith("_"):
        assert len(file.read_text("utf-8").splitlines()) < 60


@pytest.mark.parametrize("file", [*COMPUTE, *PAGES], ids=lambda f: str(f.relative_to(PROJECT)))
def test_functions_stay_under_30_lines(file: Path) -> None:
    long = {f.name: _body_lines(f) for f in _functions(file) if _body_lines(f) > 30}
    assert long == {}


@pytest.mark.parametrize(
    "modules",
    ["compute.systems, compute.datasets", "compute.__main__", "app_imports"],
    ids=["catalogues", "command line", "dashboard"],
)
def test_importing_loads_nothing_heavy(modules: str) -> None:
    """Torch, faiss and the JVM load when a system runs, never when a row is read."""
    if modules == "app_imports":
        names = sorted({name for file in PAGES for name in _compute_modules(file)})
        modules = ", ".join(names)
    script = f"import sys, json, {modules}; json.dump(sorted(sys.modules), sys.stdout)"
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in json.loads(answer.stdout)}
    assert loaded & set(HEAVY) == set()


def _compute_modules(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("compute"):
            yield node.module

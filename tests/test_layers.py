"""How large things may grow, and what loads late; who may import whom is in `pyproject.toml`."""

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from compute.base.settings import PROJECT

COMPUTE = sorted((PROJECT / "compute").rglob("*.py"))
PAGES = [PROJECT / "app.py", *sorted((PROJECT / "pages").rglob("*.py"))]
TESTS = sorted((PROJECT / "tests").rglob("*.py"))
HEAVY = ("torch", "faiss", "transformers", "sentence_transformers", "jnius", "pyserini")
OWN_PAGES = sorted((PROJECT / "pages").glob("[!_]*.py"))
MOST_ENTRIES: Mapping[str, int] = {
    "compute": 16,
    # A file and a folder for each page; what pages share, their frame, the judging component.
    "pages": 2 * len(OWN_PAGES) + 4,
}
"""Files and folders in a folder; of all others `OTHERS`."""
OTHERS = 25
MOST_LINES = 85_701
"""Lines of Python in compute/, pages/ and app.py together."""


def _named(found: Iterable[tuple[Path, int]], most: int) -> dict[str, int]:
    """The paths whose number is above the most, as people write them."""
    return {str(path.relative_to(PROJECT)): number for path, number in found if number > most}


def _lines(files: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    return ((file, len(file.read_text("utf-8").splitlines())) for file in files)


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function without its docstring."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _functions(files: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """Each function, as a path below its file, and its lines."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file / node.name, _body_lines(node)


def test_one_module_opens_duckdb() -> None:
    opening = [file for file in COMPUTE if "duckdb.connect(" in file.read_text("utf-8")]
    assert opening == [PROJECT / "compute" / "base" / "scratch_database.py"]


def test_folders_stay_small() -> None:
    tops = [PROJECT / name for name in ("compute", "pages", "tests")]
    below = (path for top in tops for path in top.rglob("*") if path.is_dir())
    large = {}
    for folder in [*tops, *below]:
        if "__pycache__" not in folder.parts:
            entries = [path for path in folder.iterdir() if path.name != "__pycache__"]
            most = MOST_ENTRIES.get(str(folder.relative_to(PROJECT)), OTHERS)
            large |= _named([(folder, len(entries))], most)
    assert large == {}


def test_modules_stay_under_600_lines() -> None:
    assert _named(_lines([*COMPUTE, *PAGES, *TESTS]), 600) == {}


def test_the_product_does_not_grow() -> None:
    """Whoever raises MOST_LINES says in the commit what came for it, and what went."""
    assert sum(lines for _, lines in _lines([*COMPUTE, *PAGES])) <= MOST_LINES


def test_pages_stay_under_60_lines() -> None:
    assert _named(_lines(OWN_PAGES), 59) == {}


@pytest.mark.long
def test_functions_stay_under_30_lines() -> None:
    assert _named(_functions([*COMPUTE, *PAGES]), 30) == {}


@pytest.mark.long
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


def test_contracts_name_every_page() -> None:
    """A page's folder that no contract names could import another's unnoticed."""
    told = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    named = {one["id"]: one for one in told["contracts"]}
    pages = {file.stem for file in (PROJECT / "pages").glob("[a-z]*.py")}
    folders = {f"pages._{page}" for page in pages if (PROJECT / "pages" / f"_{page}").is_dir()}
    assert set(named["pages"]["modules"]) == folders
    views = {folder.parent.name for folder in (PROJECT / "compute" / "views").glob("*/__init__.py")}
    forbidden = {f"compute.views.{view}" for view in views - {"shared"}}
    assert set(named["views"]["forbidden_modules"]) == forbidden

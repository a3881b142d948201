"""PyDocs: the documentation of an installed library as a test collection.

A document is a public function or class, with its docstring except for the See Also section. A
query is the summary line of such a docstring. Its relevant documents are those that the authors
list under See Also. The installed version gives the text, so equal versions give equal
collections."""

import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

from compute.base.errors import Missing, Unavailable
from compute.base.settings import PROJECT
from compute.datasets.records import Document, Judgement, Query

BUILDER_VERSION = 3
"""Increased by hand whenever a change of this code would change a collection."""


class Library(NamedTuple):
    """A library whose documentation is a collection."""

    package: str
    """Name of the package to import."""
    homepage: str


LIBRARIES = {
    "numpy": Library("numpy", "https://numpy.org"),
    "scipy": Library("scipy", "https://scipy.org"),
    "pandas": Library("pandas", "https://pandas.pydata.org"),
    "scikit-learn": Library("sklearn", "https://scikit-learn.org"),
    "networkx": Library("networkx", "https://networkx.org"),
}

ABBREVIATIONS = {"np": "numpy", "sp": "scipy", "pd": "pandas", "nx": "networkx"}

METHODS_OF = {"pandas": ("DataFrame", "Series")}
"""Classes whose methods count as functions; most of pandas' functions are such methods."""

# Skipped: test suites, vendored code, build tools, private modules, and C-level copies of functions
# documented elsewhere.
_NOT_PUBLIC = {"tests", "testutils", "conftest", "externals", "f2py", "distutils"} | {
    "core",
    "compat",
    "cython_special",
    "print_coercion_tables",
}

_SIGNATURE = re.compile(r"[\w.]+\(.*\)( *->.*)?")
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,})\s*")
_ROLE = re.compile(r"(:\w+)?:\w+:(?=`)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class Collection(NamedTuple):
    """A whole collection, with documents and queries in the order of their ids."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgements: tuple[Judgement, ...]


@dataclass
class Names:
    """The public functions and classes of a library; each has one id and any number of names."""

    objects: dict[str, object] = field(default_factory=dict)
    """Objects by id. The id is the shortest dotted name, or the alphabetically first of several."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id of each public dotted name."""
    by_identity: dict[int, str] = field(default_factory=dict)
    """The id of each object, by Python's `id(object)`."""
    by_ending: dict[str, set[str]] = field(default_factory=dict)
    """The ids with each ending: `norm` and `linalg.norm` are endings of numpy.linalg.norm."""


def build(library: str) -> Collection:
    """Build the collection of an installed library. Raises Missing for an unknown library, and
    Unavailable if it is not installed. A separate process reads the docstrings, because libraries
    edit each other's: importing SciPy lengthens the docstring of numpy.sinc."""
    if library not in LIBRARIES:
        raise Missing(
            f"there is no PyDocs collection of {library!r}, only of: {', '.join(LIBRARIES)}"
        )
    if importlib.util.find_spec(LIBRARIES[library].package) is None:
        raise Unavailable(f"{library} is not installed: make run installs it")
    # SciPy samples from distributions for their docstrings, so NumPy's seed must be constant.
    script = (
        "import secrets, sys; secrets.randbits = lambda k: 0; "
        "from compute.datasets import pydocs; pydocs.write(sys.argv[1])"
    )
    # Switches such as SCIPY_ARRAY_API change docstrings; others change where modules are found.
    switches = ("PYTHONOPTIMIZE", "PYTHONSAFEPATH", "SCIPY_", "NUMPY_", "NETWORKX_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(switches)}
    answer = subprocess.run(
        [sys.executable, "-c", script, library],
        cwd=PROJECT,
        # Some docstrings print a set, whose order depends on the hash seed.
        env=kept | {"PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        check=True,
    )
    documents, queries, judgements = json.loads(answer.stdout)
    return Collection(
        tuple(Document(*row) for row in documents),
        tuple(Query(*row) for row in queries),
        tuple(Judgement(*row) for row in judgements),
    )


def write(library: str) -> None:
    """Write the library's collection to standard output, as one JSON array."""
    sys.stdout.write(json.dumps(collect(LIBRARIES[library].package)))


def collect(package: str) -> Collection:
    """Return the collection of a package, from the docstrings as this process sees them."""
    names = public_names(package)
    documents, queries, judgements = [], [], []
    for doc_id in sorted(names.objects):
        text, see_also = without_see_also(_docstring(names.objects[doc_id]))
        # Python 3.13 and 3.11 indent docstrings assembled from several parts differently.
        text = "\n".join(line.strip() for line in text.splitlines())
        documents.append(Document(doc_id, doc_id, text))
        listed = (resolve(name, doc_id, names) for name in listed_names(see_also))
        relevant = dict.fromkeys(other for other in listed if other and other != doc_id)
        summary = summary_line(text, doc_id)
        if relevant and summary:
            queries.append(Query(doc_id, summary))
            judgements += [Judgement(doc_id, other, 1) for other in relevant]
    return Collection(tuple(documents), tuple(queries), tuple(judgements))


def public_names(package: str) -> Names:
    """Find all documented public functions and classes of a package and its submodules."""
    found: dict[int, tuple[object, list[str]]] = {}
    with warnings.catch_warnings():
        # Deprecated names warn on access, which cannot be fixed here.
        warnings.simplefilter("ignore")
        for dotted, value in _candidates(package):
            if _is_documented(value, package):
                found.setdefault(id(value), (value, []))[1].append(dotted)
    names = Names()
    for value, all_dotted in found.values():
        doc_id = min(all_dotted, key=lambda name: (name.count("."), len(name), name))
        names.objects[doc_id] = value
        names.ids |= dict.fromkeys(all_dotted, doc_id)
        names.by_identity[id(value)] = doc_id
        parts = doc_id.split(".")
        for start in range(1, len(parts)):
            names.by_ending.setdefault(".".join(parts[start:]), set()).add(doc_id)
    return names


def _candidates(package: str) -> Iterator[tuple[str, object]]:
    """Yield the dotted name and value of everything public in a package, including the methods of
    classes in METHODS_OF."""
    for module in _modules(package):
        for name in _listed(module):
            yield f"{module.__name__}.{name}", vars(module).get(name)
    for kind in METHODS_OF.get(package, ()):
        owner = getattr(sys.modules[package], kind)
        for name in (name for name in dir(owner) if not name.startswith("_")):
            method = inspect.getattr_static(owner, name)
            if not inspect.isclass(method):
                yield f"{package}.{kind}.{name}", getattr(method, "__func__", method)


def _modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and all public modules inside it that can be imported."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # This submodule needs an optional package.
        return
    yield module
    for inner in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if not inner.name.startswith("_") and inner.name not in _NOT_PUBLIC:
            yield from _modules(f"{name}.{inner.name}")


def _listed(module: ModuleType) -> Iterable[str]:
    """Return the public names of a module."""
    listed = getattr(module, "__all__", [])
    if listed and not hasattr(module, "__path__"):
        return listed
    # A package may star-import from its own modules and list only the other names.
    public = (name for name in vars(module) if not name.startswith("_"))
    return dict.fromkeys([*listed, *public])


def _is_documented(value: object, package: str) -> bool:
    """Return whether a value is a function or class of this package and has a docstring."""
    kind = type(value)
    callable_kind = inspect.isroutine(value) or inspect.isclass(value) or kind.__name__ == "ufunc"
    origins = (getattr(value, "__module__", None) or "", kind.__module__ or "")
    own = any(origin.partition(".")[0] == package for origin in origins)
    return callable_kind and own and bool(_docstring(value))


def _docstring(value: object) -> str:
    docstring = getattr(value, "__doc__", None)
    return inspect.cleandoc(docstring).strip() if isinstance(docstring, str) else ""


def without_see_also(docstring: str) -> tuple[str, list[str]]:
    """Return the docstring without its See Also section, and the lines of that section."""
    lines = docstring.splitlines()
    starts = [i for i in range(len(lines) - 1) if _UNDERLINE.fullmatch(lines[i + 1])]
    starts = [i for i in starts if lines[i].strip()]
    for start in starts:
        if lines[start].strip().lower() == "see also":
            end = min((other for other in starts if other > start), default=len(lines))
            kept = "\n".join(lines[:start] + lines[end:]).strip()
            return kept, lines[start + 2 : end]
    return docstring, []


def listed_names(see_also: Iterable[str]) -> list[str]:
    """Return the names that a See Also section lists, as numpydoc's `name, name : description`."""
    names = []
    for line in textwrap.dedent("\n".join(see_also)).splitlines():
        if line[:1].isspace():
            continue
        before = re.split(r"\s:(?:\s|$)|:\s|:$", _ROLE.sub("", line), maxsplit=1)[0]
        for word in before.split(","):
            name = word.strip().strip("`~.").removesuffix("()")
            if _DOTTED.fullmatch(name):
                names.append(name)
    return names


def resolve(name: str, doc_id: str, names: Names) -> str | None:
    """Return the id that a name in doc_id's See Also section refers to, or None. Tries in turn the
    name as written, the name within the module of doc_id and its parents, the name as the defining
    module's code resolves it, and the name as the ending of exactly one id."""
    head, dot, rest = name.partition(".")
    name = ABBREVIATIONS.get(head, head) + dot + rest
    around = doc_id.split(".")[:-1]
    for depth in range(len(around), -1, -1):
        dotted = ".".join([*around[:depth], name])
        if dotted in names.ids:
            return names.ids[dotted]
    home = sys.modules.get(getattr(names.objects[doc_id], "__module__", None) or "")
    value = vars(home).get(head) if home else None
    for attribute in rest.split(".") if rest else ():
        value = inspect.getattr_static(value, attribute, None)
    if id(value) in names.by_identity:
        return names.by_identity[id(value)]
    endings = names.by_ending.get(name, set())
    return next(iter(endings)) if len(endings) == 1 else None


def summary_line(text: str, doc_id: str) -> str:
    """Return the first paragraph as one line, without a leading call signature, or ''."""
    own_name = doc_id.rpartition(".")[2]
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip().splitlines()
        if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]):
            return ""
        line = " ".join(" ".join(lines).split())
        # An alias, such as numpy.acos, shows the signature of the original function.
        if line and not line.startswith(f"{own_name}(") and not _SIGNATURE.fullmatch(line):
            return line
    return ""

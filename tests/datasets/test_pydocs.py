"""PyDocs: the installed libraries as collections, and how a See Also section is read."""

import importlib
import subprocess
import sys

import pytest

from compute.base.errors import Missing
from compute.base.settings import PROJECT, Settings
from compute.datasets import DATASETS
from compute.datasets.fingerprints import Fingerprint
from compute.datasets.pydocs import (
    BUILDER_VERSION,
    LIBRARIES,
    build,
    collect,
    listed_names,
    public_names,
    resolve,
    summary_line,
    without_see_also,
)
from compute.datasets.reading import source
from compute.datasets.records import Judgement
from compute.store import loading
from compute.store.loading import Bench

FINGERPRINTS = {
    "numpy": (1057, 663, 1958, "199d5d4ef61712e6"),
    "scipy": (1206, 559, 1504, "7b6d09d5413963cf"),
    "pandas": (753, 532, 1396, "e951f23be68c400e"),
    "scikit-learn": (703, 327, 874, "0eb40199f22f92fd"),
    "networkx": (997, 416, 1036, "23511294d82da867"),
}
"""Documents, queries, judgements, and how the fingerprint over all of them begins."""

DOCSTRING = """norm(x, ord=None)

Matrix or vector norm,
in one number.

See Also
--------
scipy.linalg.norm : Similar function in SciPy.
    It also reads `ord`.

Notes
-----
See also the book.
"""


def test_see_also_leaves_the_text_and_the_rest_stays() -> None:
    text, see_also = without_see_also(DOCSTRING)
    assert "Similar function" not in text
    assert text.endswith("Notes\n-----\nSee also the book.")
    assert listed_names(see_also) == ["scipy.linalg.norm"]


def test_a_docstring_without_the_section_stays_whole() -> None:
    assert without_see_also("One line.") == ("One line.", [])


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["a : what a does", "b.c: what c does"], ["a", "b.c"]),
        (["a, b, c : three alike", "d,", "e"], ["a", "b", "c", "d", "e"]),
        ([":func:`~x.a` : one", ":py:class:`B`", "`c`", "d()", "e."], ["x.a", "B", "c", "d", "e"]),
        (["a", "    b, c : described further"], ["a"]),
        (["    a : the whole section is indented"], ["a"]),
        (["For more see the guide.", ":ref:`guide` : prose", "", "-"], ["guide"]),
        ([], []),
    ],
)
def test_names_are_read_in_numpydocs_form(lines: list[str], names: list[str]) -> None:
    assert listed_names(lines) == names


def test_the_summary_is_the_first_paragraph_below_a_signature() -> None:
    assert summary_line(DOCSTRING, "numpy.linalg.norm") == "Matrix or vector norm, in one number."
    assert summary_line("Norm of\n  a matrix.\n\nMore.", "x.norm") == "Norm of a matrix."
    assert summary_line("norm(x)", "x.norm") == ""
    alias = "arccos(x, /, out=None[, signature])\n\nInverse cosine."
    assert summary_line(alias, "numpy.acos") == "Inverse cosine."
    assert summary_line("norm(x)\n\nNotes\n-----\nNone.", "x.norm") == ""


def test_names_mean_what_they_mean_where_they_stand() -> None:
    names = public_names("numpy")
    assert resolve("norm", "numpy.linalg.cond", names) == "numpy.linalg.norm"
    assert resolve("linalg.norm", "numpy.sort", names) == "numpy.linalg.norm"
    assert resolve("np.sort", "numpy.linalg.norm", names) == "numpy.sort"
    assert resolve("sort", "numpy.ma.argsort", names) == "numpy.ma.sort"
    assert resolve("sort", "numpy.argsort", names) == "numpy.sort"
    assert resolve("scipy.linalg.norm", "numpy.sort", names) is None
    assert resolve("no_such_function", "numpy.sort", names) is None


def test_a_function_with_many_names_has_one_id() -> None:
    names = public_names("numpy")
    assert names.ids["numpy.absolute"] == names.ids["numpy.abs"] == "numpy.abs"
    assert "numpy.absolute" not in names.objects


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_collection_keeps_its_promises(library: str) -> None:
    documents, queries, judgements = collect(LIBRARIES[library].package)
    ids = [document.doc_id for document in documents]
    assert ids == sorted(set(ids))
    assert 0 < len(queries) < len(ids)
    assert all(document.text and "See Also\n----" not in document.text for document in documents)
    assert [query.query_id for query in queries] == sorted({row.query_id for row in judgements})
    assert {row.doc_id for row in judgements} <= set(ids)
    assert not any(row.query_id == row.doc_id for row in judgements)
    assert len(set(judgements)) == len(judgements)
    assert {row.relevance for row in judgements} == {1}


@pytest.mark.long
@pytest.mark.parametrize("library", FINGERPRINTS)
def test_equal_versions_of_a_library_give_equal_collections(library: str) -> None:
    """Also on later Pythons, which take the indentation out of docstrings."""
    found, fingerprint = build(library), Fingerprint()
    queries = [query[:2] for query in found.queries]
    for record in (*found.documents, *queries, *found.judgements):
        fingerprint.add(*record)
    sizes = len(found.documents), len(found.queries), len(found.judgements)
    assert (*sizes, fingerprint.hexdigest()[:16]) == FINGERPRINTS[library]


@pytest.mark.parametrize(
    ("package", "query_id", "doc_id"),
    [
        ("numpy", "numpy.argsort", "numpy.sort"),
        ("networkx", "networkx.pagerank", "networkx.google_matrix"),
        ("pandas", "pandas.concat", "pandas.DataFrame.merge"),
    ],
)
def test_what_authors_list_is_relevant(package: str, query_id: str, doc_id: str) -> None:
    assert Judgement(query_id, doc_id, 1) in collect(package).judgements


@pytest.mark.long
def test_a_collection_does_not_depend_on_what_is_imported_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Importing SciPy edits the docstring of numpy.sinc, switches edit others."""
    before = build("numpy")
    importlib.import_module("scipy.signal")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    assert build("numpy") == before


@pytest.mark.long
def test_the_catalogue_leads_to_the_builder() -> None:
    origin = source(DATASETS["pydocs-scikit-learn"], Settings())
    identity = origin.identity()
    assert identity is not None
    assert (identity["library"], identity["builder"]) == ("scikit-learn", BUILDER_VERSION)
    assert len(origin.queries()) == len(origin.all_queries()) == 327
    assert len(list(origin.documents())) == 703
    assert origin.judgements()["relevance"].sum() == 874


@pytest.mark.long
def test_a_collection_is_stored_like_any_other(bench: Bench) -> None:
    loaded = loading.load(bench, DATASETS["pydocs-networkx"])
    assert loaded.documents is not None and loaded.judgements is not None
    found = build("networkx")
    sizes = loaded.documents.rows, loaded.queries.rows, loaded.judgements.rows
    assert sizes == (len(found.documents), len(found.queries), len(found.judgements))


def test_an_unknown_library_is_answered_with_the_known_ones() -> None:
    with pytest.raises(Missing, match="numpy, scipy, pandas"):
        build("torch")


def test_reading_the_catalogue_imports_no_library_of_the_collections() -> None:
    script = "import sys, compute.datasets; print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split() == ["False", "False"]

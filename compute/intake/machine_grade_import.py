"""Import of an LLM's grades: from a file, from a run's scores, or from several LLMs."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas import DataFrame

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.files import digest
from compute.base.result_identity import fingerprint
from compute.base.scratch_database import scratch
from compute.base.words import counted, near, shown
from compute.datasets import Dataset, shapes, unpacked_size
from compute.datasets.fingerprints import judgements_fingerprint
from compute.intake import by_text
from compute.intake.imports import refuse_strange_documents
from compute.judgements import machine_grades
from compute.judgements.labels import RULES
from compute.judgements.machine_grades import KIND
from compute.recompute import run as recompute
from compute.store import damage, provenance
from compute.store.loading import Bench, Loaded
from compute.store.store import Part

_NAME = re.compile(r"[^\s\x00-\x1f\x7f]{1,100}")
_BY_TEXT = r"""
with graded as (
    select *, trim(regexp_replace(query, '\s+', ' ', 'g')) as asked,
           trim(regexp_replace(passage, '\s+', ' ', 'g')) as judged
    from given
), queries as (
    select query_id, trim(regexp_replace(text, '\s+', ' ', 'g')) as asked
    from read_parquet($queries)
), texts as (
    select doc_id, unnest(list_distinct([
        trim(regexp_replace(text, '\s+', ' ', 'g')),
        trim(regexp_replace(title || ' ' || text, '\s+', ' ', 'g'))])) as judged
    from read_parquet($documents)
)
select line, query_id, doc_id, relevance
from graded left join queries using (asked) left join texts using (judged)
order by all
"""


@dataclass(frozen=True)
class Taken:
    """The outcome of an import."""

    part: Part
    new: bool
    """Whether the grades were not stored before."""
    n_others: int
    """Number of pairs left out because the dataset does not have their queries."""
    n_failed: int
    """Number of pairs left out for lack of a readable answer, or of an LLM's grade."""


def import_file(
    bench: Bench,
    file: Path,
    dataset: Dataset,
    machine: str,
    *,
    replace: bool = False,
    how: shapes.How | None = None,
) -> Taken:
    """Import the grades of a file (`machine_grades.read`) as those of an LLM, all or none. Records
    without ids are matched by text, and the grade of a text applies to every document with that
    text. Raises WrongInput with file and line, or for grades on another collection; and Conflict if
    the LLM has different grades of the dataset and `replace` is false."""
    start = time.perf_counter()
    loaded = recompute.stored_dataset(bench.store, dataset)
    unpacked_size.require(file, bench.settings.home)
    found = machine_grades.read(file, how)
    rows = found.rows
    if len(found.of_texts):
        from_texts = _by_text(found.of_texts, loaded, file)
        records = (row for of in (rows, from_texts) for row in of.to_dict("records"))
        rows = machine_grades.once(DataFrame(records), file)
    if rows.empty:
        raise WrongInput(f"{file} contains no grade: give a file with grades")
    asked = recompute.read(loaded.queries)
    names = by_text.queries(rows["query_id"].unique(), asked, dataset.name, file)
    rows["query_id"] = rows["query_id"].replace(names)
    kept = rows[rows["query_id"].isin(_queries(loaded))]
    if kept.empty:
        raise WrongInput(
            f"{dataset.name} has none of the queries of {file}: is it for another dataset?"
        )
    ids = pa.chunked_array([pa.array(kept["doc_id"], pa.large_string())])
    refuse_strange_documents(bench.store, dataset, ids, file, "a grading")
    about: dict[str, Any] = {"file": file.name, "sha256": digest(file), "form": found.form}
    counts = {"pairs_of_other_queries": len(rows) - len(kept), "without_answer": found.n_failed}
    words = ["import-grades", file.name, "--dataset", dataset.name, "--machine", machine]
    words += how.words() if how else []
    made = provenance.record(words, time.perf_counter() - start, **about, **counts)
    part, new = publish(bench, dataset, machine, kept, made, replace=replace)
    return Taken(part, new, counts["pairs_of_other_queries"], found.n_failed)


def from_run(
    bench: Bench,
    dataset: Dataset,
    system: str,
    machine: str,
    *,
    thresholds: Sequence[float] = (),
    quantiles: Sequence[float] = (),
    replace: bool = False,
) -> Taken:
    """Derive grades from a stored run's scores: a grade is the number of thresholds, or quantiles,
    that a score reaches. `replace` replaces other grades. Raises as `damage.run` does, and
    WrongInput unless either thresholds or quantiles are given."""
    start = time.perf_counter()
    recompute.stored_dataset(bench.store, dataset)
    part = damage.run(bench.store, dataset.name, system)
    if bool(thresholds) == bool(quantiles):
        raise WrongInput(
            "scores are not grades: give --thresholds or --quantiles, one number for each grade"
        )
    hits = recompute.read(part)
    at = list(thresholds) or machine_grades.at_quantiles(hits, quantiles)
    rows = machine_grades.from_scores(hits, at)
    given = ["--quantiles", *map(str, quantiles)] if quantiles else ["--thresholds", *map(str, at)]
    words = ["import-grades", "--run", system, "--dataset", dataset.name, "--machine", machine]
    about: dict[str, Any] = {"run": system, "hits": part.fingerprint, "thresholds": at}
    about |= {"quantiles": list(quantiles)} if quantiles else {}
    made = provenance.record(words + given, time.perf_counter() - start, form="run", **about)
    return Taken(*publish(bench, dataset, machine, rows, made, replace=replace), 0, 0)


def from_machines(
    bench: Bench,
    dataset: Dataset,
    machines: Sequence[str],
    machine: str,
    *,
    rule: str,
    replace: bool = False,
) -> Taken:
    """Combine the stored grades of several LLMs by a rule (of RULES), on the pairs that all graded.
    Raises Missing for an LLM without grades, and WrongInput if no pair was graded by all."""
    start, known = time.perf_counter(), bench.store.parts(KIND, dataset.name)
    found = {part.system: part for part in known if part.system in machines}
    for name in machines:
        if name not in found:
            near_by = near(name, [part.system for part in known])
            raise Missing(f"{shown(name)} has no grades of {dataset.name}: {near_by}import them")
    every = pd.concat([recompute.read(part) for part in found.values()])
    pairs = every.groupby(["query_id", "doc_id"])["relevance"].agg(list)
    whole = pairs[pairs.map(len) == len(found)]
    if whole.empty or len(found) < 2:
        raise WrongInput(f"{' and '.join(found)} have graded no pair together: name others")
    rows = whole.map(RULES[rule].choose).astype("int32").reset_index()
    words = ["import-grades", "--machines", *found, "--rule", rule]
    words += ["--dataset", dataset.name, "--machine", machine]
    marks = {name: part.fingerprint for name, part in found.items()}
    about: dict[str, Any] = {"form": "machines", "machines": marks, "rule": rule}
    made = provenance.record(words, time.perf_counter() - start, **about)
    part, new = publish(bench, dataset, machine, rows, made, replace=replace)
    return Taken(part, new, 0, len(pairs) - len(whole))


def said(taken: Taken) -> str:
    """Return a sentence such as `gpt on tiny: 31 pairs of 3 queries (20 of grade 0, 11 of grade
    1)`, and what was left out."""
    rows = recompute.read(taken.part)
    told = rows["relevance"].value_counts().sort_index()
    by_grade = ", ".join(f"{number:,} of grade {grade}" for grade, number in told.items())
    pairs, queries = counted(len(rows), "pair"), counted(rows["query_id"].nunique(), "query")
    lines = [f"{taken.part.system} on {taken.part.dataset}: {pairs} of {queries} ({by_grade})"]
    lines += [] if taken.new else ["they were already stored"]
    if taken.part.provenance.get("quantiles"):
        at = ", ".join(f"{number:g}" for number in taken.part.provenance["thresholds"])
        lines += [f"grades begin at the scores {at}"]
    if taken.n_others:
        others = counted(taken.n_others, "pair")
        lines += [f"{others} of queries that {taken.part.dataset} lacks left out"]
    if taken.n_failed:
        by = "every LLM's grade" if "rule" in taken.part.provenance else "a readable answer"
        lines += [f"{counted(taken.n_failed, 'pair')} without {by} left out"]
    return "; ".join(lines)


def publish(
    bench: Bench,
    dataset: Dataset,
    machine: str,
    rows: DataFrame,
    about: dict[str, Any],
    *,
    replace: bool,
) -> tuple[Part, bool]:
    """Publish grades; return their part, and whether it is new. Raises WrongInput for an invalid
    name, and Conflict if the LLM has different grades and `replace` is false."""
    check_name(machine)
    rows = rows[["query_id", "doc_id", "relevance"]]
    rows = rows.sort_values(["query_id", "doc_id"], ignore_index=True)
    mark = fingerprint(KIND, [], machine=machine, grades=judgements_fingerprint(rows))
    with bench.store.alone("import"):
        old = bench.store.part(KIND, dataset.name, machine)
        if old and old.fingerprint == mark:
            return old, False
        if old and not replace:
            raise Conflict(
                f"{machine} has different grades on {dataset.name}: give these another name"
                " (--machine NAME), or replace the others (--replace)"
            )
        of = {"dataset": dataset.name, "system": machine, "fingerprint": mark}
        with bench.store.publishing(f"import grades of {machine} on {dataset.name}") as parts:
            return parts.add(KIND, rows, **of, provenance=about), True


def check_name(machine: str) -> None:
    """Raise WrongInput for an invalid name of an LLM."""
    if not _NAME.fullmatch(machine):
        raise WrongInput(f"{machine[:60]!r} cannot name an LLM (no spaces): --machine NAME")


def _queries(loaded: Loaded) -> set[str]:
    both = (loaded.queries, loaded.judgements)
    return {query for part in both for query in recompute.read(part)["query_id"]}


def _by_text(given: DataFrame, loaded: Loaded, file: Path) -> DataFrame:
    """Return query_id, doc_id, relevance, line of grades that name texts. Runs of white space count
    as one space, and a title may precede the text. Raises WrongInput for an unknown text."""
    name, documents = loaded.dataset.name, loaded.documents
    if documents is None:
        raise WrongInput(f"{file} has no ids, and no texts of {name} are stored: add the ids")
    files = {"queries": str(loaded.queries.path), "documents": str(documents.path)}
    with scratch() as database:
        database.register("given", given)
        found = database.execute(_BY_TEXT, files).df()
    for column, what, told in (("query_id", "query", "query"), ("doc_id", "document", "passage")):
        if len(strange := found[found[column].isna()]):
            line = int(strange["line"].iloc[0])
            text = given.loc[given["line"] == line, told].iloc[0]
            raise WrongInput(
                f"{file}, line {line}: no {what} of {name} has the text {shown(text)}: add its id"
            )
    return found

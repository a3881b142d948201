"""Import of a user's own datasets, and of run files as systems."""

import dataclasses
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base import parquet_files
from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.files import digest
from compute.base.result_identity import fingerprint
from compute.base.words import counted, near, shown
from compute.corpora import lengths
from compute.datasets import Dataset, catalogue, origins, shapes, trec, unpacked_size
from compute.datasets.places import how_to_judge
from compute.datasets.qrels import is_empty, is_qrels
from compute.datasets.reading import QrelsOnly, Source, open_path
from compute.datasets.without_documents import JudgedQueries
from compute.evaluate import runs
from compute.intake import by_text, doctor, tags, unjudged
from compute.recompute import run as recompute
from compute.recompute.run import Outcome
from compute.store import freshness, provenance, repeats, run_versions
from compute.store.loading import Bench, Loaded, load, look, publish, stored
from compute.store.store import Part, Store, top
from compute.systems import SYSTEMS

_TAG = re.compile(r"[^\s\[\](),=/\\\x00-\x1f\x7f]{1,100}")
_PAIR = pa.schema([("query_id", pa.large_string()), ("doc_id", pa.large_string())])
_STRANGE = "is it {} on another dataset? {}"
_AS_IT_IS = shapes.How()
_LONGEST = 50_000
"""Maximum number of characters of metadata to store."""
_SPOT = 1000
"""Number of hits whose documents are checked first; usually, one of them is in the corpus."""


def import_dataset(
    bench: Bench,
    name: str,
    *,
    path: Path | None = None,
    qrels: Path | None = None,
    queries: Path | None = None,
    files: Sequence[tuple[Path, shapes.How]] = (),
    split: str = "",
    language: str = "en",
    drop_self: bool = False,
    level: int = 1,
    called: str = "",
    new: bool = False,
    replace: bool = False,
    how: shapes.How | None = None,
) -> Loaded:
    """Import a BEIR folder or archive; or judgements without documents; or, if there is no corpus,
    the content of runs (queries, and the documents whose texts they have). `name` may include the
    split, as in `mine/dev`. `queries` is a file with the texts of the queries, `files` are the
    runs. `how` says how to read judgements; `level` is the least relevance that binary measures
    count; `called` are the files' names if their names on disk differ. Judgements are optional;
    they are added to a dataset that is stored without any. Raises WrongInput if nothing or two
    collections are given, if `split` contradicts `name`, or if no judgement reaches the level;
    Conflict for a name of the catalogue, or for that of a stored dataset if the dataset must be
    `new` or must not `replace` other content; and Unavailable if there is no room for the unpacked
    files."""
    for file in filter(None, (path, qrels, queries, *(file for file, _ in files))):
        unpacked_size.require(file, bench.settings.home)
    split = _split_of(name, split)
    if path is not None and qrels and not (queries or files):
        about: dict[str, Any] = {"language": language, "drop_self": drop_self, "level": level}
        about |= {"split": split, "called": called, "new": new, "replace": replace}
        return _of_both(bench, name, path, qrels, how, about)
    if path is not None and not (qrels or queries or files):
        opened = open_path(path, split)
        origin, split = opened, opened.split
    elif path is not None or not (qrels or files):
        raise WrongInput(
            "give either a BEIR folder or archive, or --qrels FILE or --runs FILES [--queries FILE]"
        )
    else:
        origin = _of_files(qrels, queries, files, how)
    row = catalogue.own(name, split=split, language=language, drop_self=drop_self, level=level)
    before = stored(bench.store, row)
    later = isinstance(origin, QrelsOnly) and not (queries or new)
    if isinstance(origin, QrelsOnly) and later and before and not before.judgements.rows:
        return _judge(bench, before, origin)
    if called:
        names = ", ".join(called.split(", ")[: len(origin.read_from())])
        row = dataclasses.replace(row, note=f"{origins.UPLOADED}{names}.")
    row = _with_grades(row, origin.judgements())
    loaded = load(bench, row, origin, new=new, replace=replace)
    lengths.count(bench, loaded)
    return loaded


def _split_of(name: str, split: str) -> str:
    """Return the requested split. Raises WrongInput if the name contains another one."""
    named = name.partition("/")[2]
    if named and split not in ("", named):
        raise WrongInput(f"{name} is split {named}: leave the split out, or choose another name")
    return split or named


def _of_both(
    bench: Bench,
    name: str,
    path: Path,
    qrels: Path,
    how: shapes.How | None,
    about: Mapping[str, Any],
) -> Loaded:
    """Import a collection without judgements, then these. Raises WrongInput if it has its own."""
    if len(open_path(path, about["split"]).judgements()):
        raise WrongInput(f"{path} has its own judgements: leave out {qrels}, or remove them")
    import_dataset(bench, name, path=path, **about)
    return import_dataset(bench, name, qrels=qrels, split=about["split"], how=how)


def _of_files(
    qrels: Path | None,
    queries: Path | None,
    files: Sequence[tuple[Path, shapes.How]],
    how: shapes.How | None,
) -> Source:
    """Return a source of judgements, or of runs, or of both, with the texts of queries if any."""
    if qrels and is_empty(qrels):
        if not files:
            raise WrongInput(f"{qrels} contains no judgement: add some, or also give runs (--runs)")
        qrels = None
    if qrels is None:
        return unjudged.OfRuns(files, queries)
    judged = JudgedQueries(qrels, queries, how) if queries else QrelsOnly(qrels, how)
    both = unjudged.OfRuns(files, None, judged)
    return both if both.has_texts() else judged


def _judge(bench: Bench, before: Loaded, given: QrelsOnly) -> Loaded:
    """Add judgements to a dataset that has none, and score its runs."""
    origin = unjudged.Judged(before, given)
    row, content = _with_grades(before.dataset, origin.judgements()), look(bench, origin)
    same = content.fingerprints["queries"] == before.queries.fingerprint
    was = before.queries.provenance.get(freshness.TEXTS_ADDED_TO)
    was = was if same else before.queries.fingerprint
    about: dict[str, Any] = {freshness.TEXTS_ADDED_TO: was} if was else {}
    about["after"] = before.queries.provenance["command"]
    loaded = publish(bench, row, origin, content, **about)
    lengths.count(bench, loaded)
    for hits in bench.store.parts("hits", row.name):
        recompute.score(bench, loaded, hits)
    return loaded


def replaced(store: Store, loaded: Loaded) -> str:
    """Return a sentence on the dataset that an import replaced; empty if there was none."""
    name, gone = loaded.dataset.name, [f"{old.rows:,} {old.kind}" for old in loaded.before]
    if not gone:
        return ""
    n_runs = len(store.parts("hits", name))
    old = f"; {counted(n_runs, 'run')} on it may be stale: rerun or reimport" if n_runs else ""
    labels = store.part("query_labels", name)
    stay = f"; {counted(labels.rows, 'query label')} stay" if labels else ""
    return f"replaced the content of this name: {', '.join(gone)}{old}{stay}"


def remarks(loaded: Loaded) -> list[str]:
    """Return remarks on an imported dataset: ignored fields, converted grades, confusable ids."""
    about = loaded.queries.provenance
    told = [left_out(about.get("left_out", {})), about.get("grades", ""), alike(loaded)]
    told += about.get("remarks", [])
    name = loaded.dataset.name
    told += [f"no judgements yet: {how_to_judge(name)}"] * (not loaded.judgements.rows)
    return list(filter(None, told))


def left_out(names: Mapping[str, int]) -> str:
    """Return a sentence on the ignored fields of topics; empty if there are none."""
    often = {name: f"{number:,} times" if number > 1 else "once" for name, number in names.items()}
    told = ", ".join(f"{shown(name)} {number}" for name, number in often.items())
    return f"ignored fields of the topics: {told}" if told else ""


def alike(loaded: Loaded) -> str:
    """Return the remark of `check` on document ids that are easily confused, or an empty text."""
    if loaded.lengths is None:
        return ""
    twins, path = doctor.Twins(), loaded.lengths.path

    def ids() -> Iterator[str]:
        for batch in parquet_files.batches(path, ["doc_id"]):
            yield from batch["doc_id"].to_pylist()

    for name in ids():
        twins.see(name)
    pairs = twins.among(ids)
    if not pairs:
        return ""
    return (
        f"{counted(len(pairs), 'pair')} of {twins.WHAT}, as {twins.told(pairs)}: they stay distinct"
    )


def _with_grades(row: Dataset, judgements: DataFrame) -> Dataset:
    """Return the dataset with its number of relevance levels, not relevant included. Raises
    WrongInput if no judgement reaches its `level`."""
    levels = {0, *judgements["relevance"].clip(lower=0)}
    if judgements.empty:
        return row
    if not 1 <= row.level <= max(levels | {1}):
        raise WrongInput(
            f"level {row.level}: choose one from 1 to {max(levels)}, the highest grade"
        )
    found = "Binary" if levels <= {0, 1} else f"{len(levels)}-level"
    return dataclasses.replace(row, relevance=found)


def import_run(
    bench: Bench,
    file: Path,
    dataset: Dataset,
    *,
    system: str = "",
    drop_equal_ids: bool = False,
    replace: bool = False,
    spared: Collection[str] = (),
    called: str = "",
    version: run_versions.Version | None = None,
    any_tag: bool = False,
    repeat: bool = False,
    how: shapes.How = _AS_IT_IS,
) -> Outcome:
    """Import a run file as a system of the dataset, named `system` or else after its tag or its
    file. `called` is the file's name if its name on disk differs. `replace` replaces another run of
    that name, unless the name is among those `spared`, which were just imported; with a `version`,
    which labels the new run, the replaced run is kept. With `any_tag`, lines may have different
    tags or none. With `repeat`, the file is another run of the same system, and nothing is
    replaced. `how` says how to read the file. Hits of queries outside the split are left out and
    counted; a file that is already stored is not imported again. Raises WrongInput with file and
    line, or for a run on another collection; Conflict if the name is in the catalogue, or belongs
    to another run and `replace` is false; and Unavailable if there is no room to unpack the
    file."""
    loaded, start = recompute.stored_dataset(bench.store, dataset), time.perf_counter()
    unpacked_size.require(file, bench.settings.home)
    tag, hits, order, sha256 = _read(file, any_tag=any_tag, how=how)
    content, options = _content(sha256, dataset.drop_self or drop_equal_ids, how), how.words()
    name = system or tag or tags.stem(called or file.name)
    over = "" if (replace or version is not None) and name not in spared else sha256
    first = bench.store.part("hits", dataset.name, name) if repeat and over else None
    _refuse_first_stage(bench.store, dataset, name, how.after, file)
    _refuse_taken_name(bench, dataset, name, "" if first else over, file)
    if first:
        with bench.store.alone("import"):
            return _another(bench, loaded, first, (hits, order, file), called, content, how)
    inputs, depth = [loaded.queries.fingerprint], bench.settings.depth
    identity = fingerprint("hits", inputs, system=name, depth=depth, **content)
    if stored := recompute.whole_run(bench.store, dataset.name, name, identity):
        return recompute.score(bench, loaded, stored)
    run, met = _checked_and_ranked(bench, loaded, hits, order, file, content["drop_self"], how.fold)
    del hits  # This has millions of rows, of which only the run is needed from here on.
    words = ["import-run", called or file.name, "--dataset", dataset.name, "--system", name]
    about = provenance.record(
        [*words, *options, *["--drop-equal-ids"] * drop_equal_ids],
        time.perf_counter() - start,
        **{"imported": True, "file": called or file.name} | met | content,
    )
    with bench.store.alone("import"):
        # Another process may have used the name meanwhile.
        _refuse_taken_name(bench, dataset, name, over, file)
        return recompute.publish_run(
            bench, loaded, name, run, depth, identity, about, version=version
        )


def _content(sha256: str, drop_self: bool, how: shapes.How) -> dict[str, Any]:
    """Return the facts about a file that determine its hits, for the fingerprint."""
    found = {"read_with": how.words(), "first_stage": how.after}
    return {"sha256": sha256, "drop_self": drop_self} | {k: it for k, it in found.items() if it}


def _another(
    bench: Bench,
    loaded: Loaded,
    first: Part,
    read: tuple[pa.Table, doctor.Tally, Path],
    called: str,
    content: dict[str, Any],
    how: shapes.How,
) -> Outcome:
    """Import a file as another run of the system whose first run is `first`. A file with the name
    and content of a stored run is not imported again; the same content under another name counts as
    a run with equal results."""
    start, (hits, order, file), name = time.perf_counter(), read, loaded.dataset.name
    fresh, _ = freshness.split(bench.store.parts())
    if first.identity not in {part.identity for part in fresh}:
        raise Conflict(
            f"{first.system} on {name} is stale, since its inputs have changed: replace its run"
            " (--replace), then add others"
        )
    known = [first.provenance, *repeats.recorded(repeats.of(bench.store, first))]
    same = {"file": called or file.name, "sha256": content["sha256"]}
    if any(same.items() <= about.items() for about in known):
        return recompute.score(bench, loaded, first)
    drop, depth = content["drop_self"], first.provenance["depth"]
    run, met = _checked_and_ranked(bench, loaded, hits, order, file, drop, how.fold, depth)
    answered, told = len(run.top(1)), met.pop("remarks", [])
    if answered < loaded.queries.rows:
        told = [*told, f"answers {answered:,} of {loaded.queries.rows:,} queries"]
    words = ["import-run", same["file"], "--dataset", name, "--repeat-of", first.system]
    about = provenance.record(
        [*words, *how.words()],
        time.perf_counter() - start,
        **{"imported": True, "depth": depth, "remarks": told} | same | met | content,
        **{"duplicates": run.duplicates, "self_hits": run.self_hits, "tied": run.tied},
    )
    outcome = recompute.add_repeat(bench, loaded, first, run, about)
    return dataclasses.replace(outcome, hits=dataclasses.replace(first, provenance=about))


def look_at(bench: Bench, loaded: Loaded, file: Path) -> tuple[runs.Run, list[str]]:
    """Return the run that `import_run` would import, and its remarks; store nothing. Raises
    WrongInput and Unavailable as `import_run` does."""
    unpacked_size.require(file, bench.settings.home)
    _, hits, order, _ = _read(file, any_tag=True, how=None)
    run, met = _checked_and_ranked(bench, loaded, hits, order, file, loaded.dataset.drop_self)
    met |= {"duplicates": run.duplicates, "self_hits": run.self_hits, "imported": True}
    return run, [*recompute.left_out(met), *met.get("remarks", [])]


def _read(
    file: Path, *, any_tag: bool, how: shapes.How | None
) -> tuple[str, pa.Table, doctor.Tally, str]:
    """Return the tag and the hits of a run file (lines may have different tags if `any_tag`),
    remarks on its order, and its SHA-256."""
    with ThreadPoolExecutor(1) as pool:
        summed = pool.submit(digest, file)
        tag, hits = _hits(file, any_tag=any_tag, how=how)
        # Nothing else needs the ranks, which take memory for millions of rows.
        order = doctor.ordered(hits, str(file))
        return tag, hits.select([*_PAIR.names, "score"]), order, summed.result()


def _hits(file: Path, *, any_tag: bool, how: shapes.How | None) -> tuple[str, pa.Table]:
    """Return the tag and the hits of a run file. Raises WrongInput, which names qrels as such."""
    try:
        return runs.read(file, any_tag=any_tag, ranks=True, how=how)
    except WrongInput:
        if is_qrels(file):
            raise WrongInput(
                f"{file} is a qrels file, not a run: import it with import-dataset --qrels"
            ) from None
        raise


def _checked_and_ranked(
    bench: Bench,
    loaded: Loaded,
    hits: pa.Table,
    order: doctor.Tally,
    file: Path,
    drop_self: bool,
    fold: Path | bool = False,
    depth: int = 0,
) -> tuple[runs.Run, dict[str, Any]]:
    """Return the run on the split's queries, and facts for its provenance: the hits of other
    queries, remarks, and metadata. `drop_self` drops each query's own document; a `depth` of 0
    means that of the settings."""
    own, others = _of_split(hits, loaded, order, file)
    dataset, corpus = loaded.dataset, loaded.lengths
    met = {"hits_of_other_queries": others} | _metadata(file)
    if fold:
        documents = pq.read_table(corpus.path)["doc_id"] if corpus else None
        own, met["folded"] = by_text.folded(own, documents, fold, file)
    refuse_strange_documents(bench.store, dataset, own["doc_id"], file)
    if corpus is not None:
        doctor.strangers(order, own["doc_id"], corpus.path, dataset.name, str(file))
    run = runs.ranked(own, depth=depth or bench.settings.depth, drop_self=drop_self)
    del own
    remarks = _remarks(order, run, loaded, file)
    met["hits_below_depth"] = run.below
    return run, met | ({"remarks": remarks} if remarks else {})


def _metadata(file: Path) -> dict[str, str]:
    """Return the comment lines of ir_metadata, which say how the run was made."""
    if shapes.is_parquet(file):
        return {}
    comments = [line[1:].removeprefix(" ") for line in trec.lines(file) if line[:1] == "#"]
    first, last = (f"ir_metadata.{end}" for end in ("start", "end"))
    if first not in comments:
        return {}
    said = comments[comments.index(first) + 1 :]
    return {"ir_metadata": "\n".join(said[: said.index(last)] if last in said else said)[:_LONGEST]}


def _of_split(
    hits: pa.Table, loaded: Loaded, tally: doctor.Tally, file: Path
) -> tuple[pa.Table, int]:
    """Return the hits of queries in the split, by ids even if the file has texts of queries, and
    the number of the others. Raises WrongInput if no query is in the split."""
    asked, name = recompute.read(loaded.queries), loaded.dataset.name
    hits, split = by_text.by_ids(hits, asked, name, file), pa.array(asked["query_id"], pa.string())
    queries = hits["query_id"].chunk(0)  # one piece, in which every name belongs to a hit
    known = by_text.are_in(queries.dictionary, split).to_numpy(zero_copy_only=False)
    if not known.any():
        pairs = hits.select(_PAIR.names).cast(_PAIR)
        why = doctor.exchanged(pairs, doctor.pairs(loaded.judgements)) or _STRANGE.format(
            "a run", doctor.nearest("query", queries.dictionary, split, name)
        )
        raise WrongInput(f"{file}: none of its {len(known)} queries is a query of {name}: {why}")
    if not known.all():
        ids = pa.chunked_array([queries.dictionary])
        doctor.strangers(tally, ids, split, name, str(file))
    kept = hits if known.all() else hits.filter(pa.array(known[queries.indices.to_numpy()]))
    return kept, hits.num_rows - kept.num_rows


def _remarks(order: doctor.Tally, run: runs.Run, loaded: Loaded, file: Path) -> list[str]:
    """Return the remarks of `check` on the file that affect numbers."""
    first = top(run.top(10))[_PAIR.names]
    pairs = pa.Table.from_pandas(first, schema=_PAIR, preserve_index=False)
    judged, corpus = doctor.pairs(loaded.judgements), loaded.lengths is not None
    return doctor.changing(order, pairs, judged, str(file), corpus=corpus)


def refuse_strange_documents(
    store: Store, dataset: Dataset, doc_ids: pa.ChunkedArray, file: Path, what: str = "a run"
) -> None:
    """Raise WrongInput if the collection is known and has no document of the run. Collections share
    query ids such as 1, 2, 3, so a run on another collection would only score 0."""
    known = store.part("lengths", dataset.collection)
    if known is None or _meets(known.path, doc_ids[:_SPOT]) or _meets(known.path, doc_ids):
        return
    own, corpus = doc_ids.unique().cast(pa.string()), pq.read_table(known.path)["doc_id"]
    if of := by_text.of_known(own.slice(0, _SPOT), corpus):
        raise WrongInput(
            f"{file}: its documents are chunks of documents of {dataset.collection}, as"
            f" {shown(of[0])} of {shown(of[1])}: merge them into documents, each at its best"
            " rank (--fold)"
        )
    near = doctor.nearest("document", own, corpus, dataset.collection)
    raise WrongInput(
        f"{file}: none of its {len(own):,} documents is in {dataset.collection}:"
        f" {_STRANGE.format(what, near)}"
    )


def _meets(corpus: Path, doc_ids: pa.ChunkedArray) -> bool:
    """Return whether at least one of the documents is in the corpus."""
    found = doc_ids.unique().cast(pa.string())
    batches = parquet_files.batches(corpus, ["doc_id"])
    return any(by_text.are_in(batch["doc_id"], found).true_count for batch in batches)


def _refuse_first_stage(store: Store, dataset: Dataset, name: str, after: str, file: Path) -> None:
    """Raise WrongInput if a run would rerank itself, Missing if its first stage has no run."""
    if after and after == name:
        raise WrongInput(f"{file}: {shown(name)} cannot rerank itself: name its first stage")
    if after and store.part("hits", dataset.name, after) is None:
        known = [part.system for part in store.parts("hits", dataset.name)]
        raise Missing(
            f"{file}: its first stage {shown(after)} has no run on {dataset.name}:"
            f" {near(after, known)}import that run first"
        )


def _refuse_taken_name(bench: Bench, dataset: Dataset, name: str, sha256: str, file: Path) -> None:
    """Raise Conflict for a name of the catalogue or, given a `sha256`, one of another run."""
    if not _TAG.fullmatch(name):
        raise WrongInput(
            f"{name[:60]!r} cannot name a system (no spaces, slashes or brackets):"
            " give it another name (--system NAME)"
        )
    if name in SYSTEMS and SYSTEMS[name].family != "imported":
        raise Conflict(
            f"{name!r} is a system of the catalogue: give it another name (--system NAME)"
        )
    run_versions.refuse(bench.store, name, SYSTEMS)
    stored = bench.store.part("hits", dataset.name, name)
    if stored and sha256 and stored.provenance.get("sha256") != sha256:
        raise Conflict(
            f"{file}: {name} has another run on {dataset.name}: give this one another name"
            " (--system NAME), or replace that one (--replace, or --as-version to keep it as a"
            " version)"
        )

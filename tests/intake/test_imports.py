import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, Missing, WrongInput
from compute.datasets import Dataset, shapes
from compute.intake import imports
from compute.recompute import run
from compute.recompute.run import Bench
from tests.support.tiny import write_tiny

RUN = "q1 Q0 d1 1 3.0 mine\nq1 Q0 d2 2 2.0 mine\nq2 Q0 d2 1 1.0 mine\n"


def _file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "some.run"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_run_is_named_by_its_tag_and_scored(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    outcome = imports.import_run(bench, _file(tmp_path, RUN), tiny)
    assert outcome.hits.system == "mine"
    values = run.read(outcome.scores).set_index(["query_id", "measure"])["value"]
    assert values["q2", "nDCG@10"] == pytest.approx(1 / (1 + 1 / 1.5849625007211562))
    assert values["q3", "nDCG@10"] == 0
    assert ("q3", "Hole@10") not in values.index


def test_the_first_stage_of_a_reranked_run_is_kept(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    file = _file(tmp_path, RUN)
    again = partial(imports.import_run, bench, file, tiny, system="again")
    with pytest.raises(Missing, match="first stage 'mine' has no run on tiny: import that run"):
        again(how=shapes.How(after="mine"))
    with pytest.raises(WrongInput, match="'again' cannot rerank itself: name its first stage"):
        again(how=shapes.How(after="again"))
    imports.import_run(bench, file, tiny)
    assert again().new and again(how=shapes.How(after="mine")).new, "the same hits, now known as"
    about = again(how=shapes.How(after="mine")).hits.provenance
    assert about["first_stage"] == "mine" and about["command"].endswith("again --after mine")


def test_hits_of_other_queries_are_counted_not_kept(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    outcome = imports.import_run(bench, _file(tmp_path, RUN + "q9 Q0 d1 1 1.0 mine\n"), tiny)
    assert outcome.hits.provenance["hits_of_other_queries"] == 1
    assert outcome.hits.rows == 3


def test_all_hits_that_are_left_out_are_counted_and_said(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    text = (
        RUN + "q1 Q0 d3 3 1.5 mine\nq1 Q0 d1 4 1.0 mine\nq3 Q0 q3 1 2.0 mine\nq9 Q0 d1 1 1 mine\n"
    )
    shallow = replace(bench, settings=replace(bench.settings, depth=2))
    file = _file(tmp_path, text)
    outcome = imports.import_run(shallow, file, tiny, drop_equal_ids=True)
    told = [
        "1 hit of queries outside the split left out",
        "1 hit of documents that occur higher in the same list left out",
        "1 hit of the query's own document left out",
        "1 hit below the stored depth (setting depth) left out",
    ]
    assert run.said(shallow, outcome).endswith(f"({'; '.join(['answers 2 of 3 queries', *told])})")
    own = replace(run.stored_dataset(bench.store, tiny), dataset=replace(tiny, drop_self=True))
    assert imports.look_at(shallow, own, file)[1][:4] == told


@pytest.mark.long
@pytest.mark.parametrize(
    "lines", [RUN.replace("d2 2 2.0 mine", "d2 2 2.0 x"), RUN.replace(" mine", "")]
)
def test_a_run_of_several_tags_or_none_needs_a_name(
    bench: Bench, tiny: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    file = _file(tmp_path, lines)
    with pytest.raises(WrongInput, match="--system NAME"):
        imports.import_run(bench, file, tiny)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    assert main(["import-run", str(file), "--dataset", "tiny", "--system", "ours"]) == 0
    looked_at, _ = imports.look_at(bench, run.stored_dataset(bench.store, tiny), file)
    imports.import_run(bench, _file(tmp_path, RUN), tiny)
    ours, plain = (bench.store.part("hits", "tiny", name) for name in ("ours", "mine"))
    assert ours is not None and plain is not None
    assert run.read(ours).equals(run.read(plain))
    assert looked_at.frame["doc_id"].tolist() == run.read(plain)["doc_id"].tolist()


def test_a_run_on_another_dataset_is_refused(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="none of its 1 queries is a query of tiny"):
        imports.import_run(bench, _file(tmp_path, "x Q0 d1 1 1.0 mine\n"), tiny)
    assert bench.store.parts("hits") == []


@pytest.mark.parametrize("name", ["bm25", "ance"])
def test_names_of_the_catalogue_are_taken(
    bench: Bench, tiny: Dataset, tmp_path: Path, name: str
) -> None:
    with pytest.raises(Conflict, match="is a system of the catalogue"):
        imports.import_run(bench, _file(tmp_path, RUN), tiny, system=name)


def test_a_run_of_a_system_that_none_can_compute_takes_its_name(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    outcome = imports.import_run(bench, _file(tmp_path, RUN), tiny, system="gar-bm25")
    assert outcome.hits.system == "gar-bm25"


def test_the_name_of_a_system_with_parameters_is_no_name_for_an_import(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(WrongInput, match="cannot name a system"):
        imports.import_run(bench, _file(tmp_path, RUN), tiny, system="bm25(b=0.9)")


def test_another_run_of_the_same_name_is_refused_unless_it_may_replace(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    imports.import_run(bench, _file(tmp_path, RUN), tiny)
    other = _file(tmp_path, RUN + "q3 Q0 d6 1 1.0 mine\n")
    with pytest.raises(Conflict, match="mine has another run on tiny: give this one another name"):
        imports.import_run(bench, other, tiny)
    assert [part.rows for part in bench.store.parts("hits")] == [3]
    assert imports.import_run(bench, other, tiny, replace=True).new
    assert [part.rows for part in bench.store.parts("hits")] == [4]
    imports.import_run(bench, _file(tmp_path, RUN), tiny, system="first")
    assert [part.rows for part in bench.store.parts("hits")] == [3, 4]


def test_of_runs_that_come_at_once_under_one_name_one_is_taken_in(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.run" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text(f"q1 Q0 d1 1 {number}.0 mine\n", encoding="utf-8")

    def come(file: Path) -> bool:
        try:
            return imports.import_run(bench, file, tiny).new
        except Conflict:
            return False

    with ThreadPoolExecutor(len(files)) as pool:
        assert sum(pool.map(come, files)) == 1


def test_what_came_a_moment_ago_is_not_replaced(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    first = imports.import_run(bench, _file(tmp_path, RUN), tiny, replace=True).hits
    with pytest.raises(Conflict, match="mine has another run on tiny"):
        other = _file(tmp_path, RUN.replace("3.0", "9.0"))
        imports.import_run(bench, other, tiny, replace=True, spared={first.system})
    assert bench.store.part("hits", "tiny", "mine") == first


def test_the_same_run_again_is_up_to_date(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    first = imports.import_run(bench, _file(tmp_path, RUN), tiny)
    version = bench.store.version()
    again = imports.import_run(bench, _file(tmp_path, RUN), tiny)
    assert (again.new, again.hits, bench.store.version()) == (False, first.hits, version)


def test_the_same_file_with_another_rule_is_scored_anew(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    file = _file(tmp_path, RUN + "q3 Q0 q3 1 2.0 mine\nq3 Q0 d6 2 1.0 mine\n")
    assert imports.import_run(bench, file, tiny).hits.rows == 5
    assert imports.import_run(bench, file, tiny, drop_equal_ids=True).hits.rows == 4


def test_a_run_without_a_document_of_the_collection_is_refused(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(WrongInput, match="none of its 2 documents is in tiny: is it a run on"):
        imports.import_run(bench, _file(tmp_path, "q1 Q0 x 1 2 t\nq1 Q0 y 2 1 t\n"), tiny)
    imports.import_run(bench, _file(tmp_path, "q1 Q0 x 1 2 t\nq1 Q0 d6 2 1 t\n"), tiny)


@pytest.mark.parametrize("text", ["q1 0 d1 1\n", "query-id\tcorpus-id\tscore\nq1\td1\t1\n"])
def test_qrels_are_no_run(bench: Bench, tiny: Dataset, tmp_path: Path, text: str) -> None:
    with pytest.raises(
        WrongInput, match="is a qrels file, not a run: import it with import-dataset"
    ):
        imports.import_run(bench, _file(tmp_path, text), tiny)


def test_a_dataset_name_of_the_catalogue_is_taken(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="'scifact' is a dataset of the catalogue"):
        imports.import_dataset(bench, "scifact", path=write_tiny(tmp_path / "x"))


def test_either_a_collection_or_judgements_alone(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="give either"):
        imports.import_dataset(bench, "both")


def test_a_run_on_nothing_says_what_to_do(bench: Bench, tmp_path: Path) -> None:
    row = Dataset.from_record({**imports.catalogue.own("ghost").record()})
    with pytest.raises(Missing, match="ghost is not stored here"):
        imports.import_run(bench, _file(tmp_path, RUN), row)


@pytest.mark.long
def test_trec_covid_round_1_has_the_official_scores(bench: Bench) -> None:
    reference = os.environ.get("BEIRSCOPE_REFERENCE")
    if not reference:
        pytest.skip("BEIRSCOPE_REFERENCE is not set: official scores not compared")
    folder = Path(reference) / "runs" / "trec-covid-round1"
    row = imports.import_dataset(bench, "covid", qrels=folder / "qrels.txt.gz").dataset
    official = pd.read_csv(folder / "official_scores.csv").set_index("run")["ndcg@10"]
    files = [file for file in sorted(folder.glob("*.gz")) if not file.name.startswith("qrels")]
    assert len(files) == 14
    for file in files:
        outcome = imports.import_run(bench, file, row)
        scores = run.read(outcome.scores)
        mean = scores[scores["measure"] == "nDCG@10"]["value"].mean()
        assert f"{mean:.4f}" == f"{official[file.name.removesuffix('.gz')]:.4f}"


def test_relevance_levels_are_read_off_the_judgements(bench: Bench, tiny: Dataset) -> None:
    assert tiny.relevance == "3-level"


def test_the_only_split_needs_no_name(bench: Bench, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert imports.import_dataset(bench, "tiny", path=folder).dataset.split == "dev"


def test_a_name_may_name_the_split(bench: Bench, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    header = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "dev.tsv").write_text(f"{header}q2\td2\t1\n", "utf-8")
    dev = imports.import_dataset(bench, "tiny/dev", path=folder)
    assert (dev.dataset.split, dev.dataset.collection, dev.judgements.rows) == ("dev", "tiny", 1)
    test = imports.import_dataset(bench, "tiny", path=folder)
    assert (test.dataset.split, test.judgements.rows) == ("test", 5)
    with pytest.raises(Missing, match="splits there: dev, test"):
        imports.import_dataset(bench, "tiny/train", path=folder)
    with pytest.raises(WrongInput, match="tiny/dev is split dev: leave the split out"):
        imports.import_dataset(bench, "tiny/dev", path=folder, split="test")


def test_judgements_alone_may_have_the_texts_of_their_queries(bench: Bench, tmp_path: Path) -> None:
    qrels, topics = _file(tmp_path, "q1 0 d1 1\n"), tmp_path / "topics.tsv"
    topics.write_text("q1\twhat it asks\n", "utf-8")
    assert run.read(imports.import_dataset(bench, "mine", qrels=qrels).queries)["text"].isna().all()
    texts = partial(imports.import_dataset, bench, "mine", qrels=qrels, queries=topics)
    with pytest.raises(Conflict, match="mine is already stored here \\(1 queries would go\\)"):
        texts()
    loaded = texts(replace=True)
    assert run.read(loaded.queries)["text"].to_list() == ["what it asks"]
    with pytest.raises(WrongInput, match="give either"):
        imports.import_dataset(bench, "x", path=tmp_path, queries=topics)

"""Taking in what machines graded: files of three forms, and a run's scores."""

import json
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.errors import BeirscopeError, Conflict, Missing, WrongInput
from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports, machine_grade_import
from compute.intake.machine_grade_import import Taken
from compute.jobs import removing
from compute.judgements import machine_grades
from compute.reading import judgement_sets
from compute.reading.database import open_version
from compute.recompute.run import read
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from tests.support import filled
from tests.support.tiny import DOCUMENTS, QUERIES, write_tiny

RUN = "q1 Q0 d1 1 4.0 t\nq1 Q0 d2 2 3.0 t\nq2 Q0 d3 1 2.0 t\nq3 Q0 d6 1 1.0 t\n"
CSV = "doc_id,query_id,grade,why\nd1,q1,2,says so\nd5,q1,0,\nd2,q2,1,\n"
GRADES = [("q1", "d1", 2), ("q1", "d5", 0), ("q2", "d2", 1)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The tiny collection and one run."""
    return filled.having(tmp_path, {"bm": RUN})


def take(bench: Bench, content: str, machine: str = "gpt", *, replace: bool = False) -> Taken:
    file = bench.settings.home / "grades"
    file.write_text(content, "utf-8")
    return machine_grade_import.import_file(bench, file, tiny(bench), machine, replace=replace)


def tiny(bench: Bench) -> Dataset:
    return own_datasets(bench.store)["tiny"]


def pairs(taken: Taken) -> list[tuple[str, str, int]]:
    return [(*row,) for row in read(taken.part).itertuples(index=False, name=None)]


def umbrela(query: int, document: int, judgment: int, **more: object) -> str:
    """A line as umbrela writes it: texts, and no ids."""
    passage = "\n".join(DOCUMENTS[document][name] for name in ("title", "text")).strip()
    record = {"model": "m", "query": QUERIES[query]["text"], "passage": passage}
    return json.dumps(record | {"judgment": judgment, "result_status": 1} | more) + "\n"


def test_a_csv_names_its_columns_in_any_order(bench: Bench) -> None:
    taken = take(bench, CSV)
    assert pairs(taken) == GRADES
    assert (taken.new, taken.n_others, taken.n_failed) == (True, 0, 0)
    about = taken.part.provenance
    assert (taken.part.system, about["file"], about["form"]) == ("gpt", "grades", "named columns")
    assert "import-grades grades --dataset tiny --machine gpt" in about["command"]


@pytest.mark.parametrize("header", ["qid,docid,judgment", "query,docid,rating", "Query-ID,pid,rel"])
def test_a_csv_may_call_its_columns_otherwise(bench: Bench, header: str) -> None:
    assert pairs(take(bench, f"{header}\nq1,d1,2\nq1,d5,0\nq2,d2,1\n")) == GRADES


def test_an_answer_without_a_grade_is_left_out_and_counted(bench: Bench) -> None:
    records: list[dict[str, object]] = [
        {"qid": q, "docid": d, "judgment": grade} for q, d, grade in GRADES
    ]
    records.insert(1, {"qid": "q1", "docid": "d3", "judgment": None})
    for content in ("\n".join(map(json.dumps, records)), f"{CSV}d3,q1,,no answer\n"):
        taken = take(bench, content)
        assert (pairs(taken), taken.n_failed) == (GRADES, 1)
        assert "1 pair without a readable answer left out" in machine_grade_import.said(taken)


def test_qrels_are_grades_too_and_another_datasets_queries_are_left_out(bench: Bench) -> None:
    taken = take(bench, "q1 0 d1 2\nq1 0 d5 0\nq9 0 d5 1\nq2 0 d2 1\n")
    assert pairs(taken) == GRADES
    assert taken.n_others == 1


def test_umbrelas_records_are_found_by_their_texts(bench: Bench) -> None:
    lines = umbrela(0, 0, 2) + umbrela(0, 4, 0) + umbrela(1, 1, 1)
    taken = take(bench, lines + umbrela(2, 2, 0, result_status=0))
    assert pairs(taken) == GRADES
    assert taken.n_failed == 1


def test_umbrelas_records_with_ids_need_no_texts(bench: Bench) -> None:
    records = [{"qid": q, "docid": d, "judgment": grade} for q, d, grade in GRADES]
    assert pairs(take(bench, "\n".join(map(json.dumps, records)))) == GRADES


def test_a_grade_of_a_text_holds_for_every_document_with_it(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "twice")
    corpus = folder / "corpus.jsonl"
    twin = json.dumps(DOCUMENTS[5] | {"_id": "d7"})
    corpus.write_text(corpus.read_text("utf-8") + twin + "\n", "utf-8")
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings, tmp_path / "none"), settings)
    imports.import_dataset(bench, "tiny", path=folder)
    assert pairs(take(bench, umbrela(0, 5, 3))) == [("q1", "d6", 3), ("q1", "d7", 3)]


def test_the_same_grades_come_once_and_others_only_when_told(bench: Bench) -> None:
    first = take(bench, CSV)
    again = take(bench, CSV)
    assert not again.new and again.part.id == first.part.id
    with pytest.raises(Conflict, match=r"gpt has different grades on tiny: .*--machine.*--replace"):
        take(bench, CSV.replace("d1,q1,2", "d1,q1,1"))
    replaced = take(bench, CSV.replace("d1,q1,2", "d1,q1,1"), replace=True)
    assert pairs(replaced)[0] == ("q1", "d1", 1)
    assert len(bench.store.parts(machine_grades.KIND)) == 1


def test_grades_touch_no_judgement_and_no_score(bench: Bench) -> None:
    before = {part.id for part in bench.store.parts()}
    taken = take(bench, CSV)
    assert {part.id for part in bench.store.parts()} == before | {taken.part.id}
    assert bench.store.judgement_version() == 0


def test_scores_are_grades_by_thresholds(bench: Bench) -> None:
    taken = machine_grade_import.from_run(
        bench, tiny(bench), "bm", "bm-rule", thresholds=[2.0, 3.5]
    )
    assert pairs(taken) == [("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d3", 1), ("q3", "d6", 0)]
    about = taken.part.provenance
    assert (about["run"], about["thresholds"]) == ("bm", [2.0, 3.5])


def test_scores_are_grades_by_quantiles(bench: Bench) -> None:
    # Of 1, 2, 3, 4 the half below and the half above part at 2.5.
    taken = machine_grade_import.from_run(bench, tiny(bench), "bm", "bm-half", quantiles=[0.5])
    assert [grade for *_, grade in pairs(taken)] == [1, 1, 0, 0]
    assert taken.part.provenance["thresholds"] == [2.5]


@pytest.mark.parametrize(
    ("thresholds", "quantiles", "sentence"),
    [
        ([], [], "give --thresholds or --quantiles"),
        ([1.0], [0.5], "give --thresholds or --quantiles"),
        ([2.0, 2.0], [], "thresholds 2 2 do not ascend"),
        ([float("nan")], [], "thresholds nan do not ascend"),
        ([], [1.5], "shares between 0 and 1"),
    ],
)
def test_wrong_thresholds(
    bench: Bench, thresholds: list[float], quantiles: list[float], sentence: str
) -> None:
    with pytest.raises(WrongInput, match=sentence):
        machine_grade_import.from_run(
            bench, tiny(bench), "bm", "m", thresholds=thresholds, quantiles=quantiles
        )


def test_two_shares_on_one_score_are_no_two_grades() -> None:
    hits = DataFrame({"score": [1.0, 1.0, 1.0, 2.0]})
    with pytest.raises(WrongInput, match=r"quantiles 0\.1 and 0\.2 have the same score, 1: choose"):
        machine_grades.at_quantiles(hits, [0.1, 0.2])


def test_a_run_that_is_not_stored(bench: Bench) -> None:
    with pytest.raises(Missing, match="no run of bn on tiny is stored: did you mean bm"):
        machine_grade_import.from_run(bench, tiny(bench), "bn", "m", thresholds=[1.0])


HEADER = "query_id,doc_id,grade\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "query_id,doc_id,score\nq1,d1,1\n",
            "FILE: looks like a ranking, not judgements (by the names in it, named columns):"
            " import-run imports it, or add --as judgements",
        ),
        (
            "qid,docno,label,rating\nq1,d1,1,1\n",
            "FILE, line 1: no one column score, rank or relevance in 'qid', 'docno', 'label',"
            " 'rating': name it so",
        ),
        (HEADER, "FILE contains no documents: give a file with documents"),
        (
            HEADER + "q1,d1,1\nq1,d2,high\n",
            "FILE, line 3: relevance is 'high', not a whole number; fix the line",
        ),
        (
            "query_id,doc_id,grade,grade\nq1,d1,1,2\n",
            "FILE, line 1: two columns are named 'grade': rename one",
        ),
        *(
            (
                '{"qid": "q1' + half + '", "docid": "d1", "judgment": 1}\n',
                "FILE, line 1: an escape in it is not a valid character; fix the line",
            )
            for half in (r"\ud800", r"\uDFFF", r"\u0000")
        ),
        (HEADER + "q1,d1,\n", "FILE contains no grade: give a file with grades"),
        (HEADER + "q1,,1\n", "FILE, line 2: it has no doc_id; fix the line"),
        (
            HEADER + "q1,d1,1\nq1,d1,2\n",
            "FILE, line 3: query 'q1' and document 'd1' have a different grade above; keep one of"
            " the lines",
        ),
        (HEADER + "x,d1,1\n", "tiny has none of the queries of FILE: is it for another dataset?"),
        (
            HEADER + "q1,x,1\n",
            "FILE: none of its 1 documents is in tiny: is it a grading on another dataset?"
            " its first is 'x', and that of tiny 'd1'",
        ),
        (
            '{"qid": "q1", "docid": "d1"}\n',
            "FILE, line 1: no judgment (umbrela's spelling): fix or remove the line",
        ),
        (
            '{"qid": "q1", "docid": "d1", "judgment": 1.5}\n',
            "FILE, line 1: judgment is '1.5', not a whole number; fix the line",
        ),
        (
            '{"qid": "q1", "judgment": 1}\n',
            "FILE, line 1: no qid and docid, nor query and passage: add the ids",
        ),
        (
            umbrela(0, 0, 1) + umbrela(0, 0, 1).replace("harbour", "bay"),
            "FILE, line 2: no query of tiny has the text 'ships in the bay': add its id",
        ),
        (
            umbrela(0, 0, 1) + umbrela(0, 0, 2),
            "FILE, line 2: query 'q1' and document 'd1' have a different grade above; keep one of"
            " the lines",
        ),
    ],
)
def test_wrong_files_are_named_with_their_line(bench: Bench, content: str, sentence: str) -> None:
    with pytest.raises(BeirscopeError) as error:
        take(bench, content)
    file = str(bench.settings.home / "grades")
    assert str(error.value).replace(file, "FILE") == sentence
    assert not bench.store.parts(machine_grades.KIND)


def test_a_name_with_a_blank_is_no_machine(bench: Bench) -> None:
    with pytest.raises(WrongInput, match="'my gpt' cannot name an LLM"):
        take(bench, CSV, "my gpt")


def test_a_machine_called_as_a_run_goes_alone(bench: Bench) -> None:
    take(bench, CSV, "bm")
    found = removing.planned(bench.store, "tiny", "bm")
    assert machine_grades.KIND not in {part.kind for part in found}
    (gone,) = removing.remove(bench.store, "tiny", machine="bm")
    assert gone.kind == machine_grades.KIND
    assert removing.said(bench.store, [gone], "tiny").startswith("3 machine grades (")
    assert bench.store.part("hits", "tiny", "bm") and not bench.store.parts(machine_grades.KIND)
    with pytest.raises(Missing, match="no grades of bm on tiny is stored"):
        removing.planned(bench.store, "tiny", machine="bm")


def test_grades_go_with_their_dataset(bench: Bench) -> None:
    take(bench, CSV)
    assert "3 machine grades" in removing.said(
        bench.store, removing.planned(bench.store, "tiny"), "tiny"
    )


@pytest.mark.parametrize(("rule", "grades"), [("majority", [0, 2]), ("mean", [1, 2])])
def test_several_machines_are_one_set(bench: Bench, rule: str, grades: list[int]) -> None:
    for machine, first in (("a", 0), ("b", 0), ("c", 2)):
        rows = f"q1,d1,{first}\nq1,d2,2\n" + "q2,d2,1\n" * (machine != "c")
        take(bench, f"query_id,doc_id,grade\n{rows}", machine)
    of = {"dataset": tiny(bench), "machine": "panel", "rule": rule}
    taken = machine_grade_import.from_machines(bench, machines=["a", "b", "c"], **of)
    assert pairs(taken) == [("q1", "d1", grades[0]), ("q1", "d2", grades[1])]
    assert machine_grade_import.said(taken).endswith("; 1 pair without every LLM's grade left out")
    with open_version(bench.store).cursor() as cursor:
        sets = judgement_sets.listed(cursor, "tiny").to_dict("records")
    assert f"{rule} of a, b, c" in {one["made_from"] for one in sets}
    with pytest.raises(Missing, match="'d' has no grades of tiny: "):
        machine_grade_import.from_machines(bench, machines=["a", "d"], **of)
    with pytest.raises(WrongInput, match="a have graded no pair together"):
        machine_grade_import.from_machines(bench, machines=["a"], **of)

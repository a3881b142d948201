import bz2
import gzip
import json
import lzma
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.base.errors import BeirscopeError, WrongInput
from compute.datasets.qrels import read, read_qrels
from compute.datasets.shapes import How, held
from tests.support.ranked_lists import read_trec

RUN = {"q1": {"d1": 0.9, "d4": 0.25}, "q2": {"d3": 1e-7}}
LISTS = [
    {"query_id": "q1", "retrieved_ids": ["d1", "d4"], "expected_ids": ["d1"]},
    {"query_id": "q2", "retrieved_ids": ["d3"], "expected_ids": []},
]
HITS = [
    {"hit": {"_index": "i", "_id": "d1", "_score": 0.9}, "rating": 1},
    {"hit": {"_index": "i", "_id": "d4", "_score": 0.25}, "rating": None},
]
RANK_EVAL = {
    "metric_score": 0.6,
    "details": {
        "q1": {"metric_score": 0.5, "unrated_docs": [{"_index": "i", "_id": "d4"}], "hits": HITS},
        "q2": {"hits": [{"hit": {"_id": "d3", "_score": 1e-7}, "rating": None}]},
    },
    "failures": {},
}
META = {"model_name": "x/y", "revision": "abc"}
FLAT = [{"qid": q, "docid": d, "score": s} for q, docs in RUN.items() for d, s in docs.items()]
HAKARI = [{"name": "a", "query_id": q, "corpus_ids": [*docs]} for q, docs in RUN.items()]


def lines(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


RUNS = {
    "TREC": lines("q1 Q0 d1 1 0.9 t", "q1 Q0 d4 2 0.25 t", "q2 Q0 d3 1 1e-7 t"),
    "BEIR's and ranx's dict": json.dumps(RUN),
    "the same over lines": json.dumps(RUN, indent=1),
    "MTEB's predictions": json.dumps({"mteb_model_meta": META, "default": {"test": RUN}}),
    "a frame of PyTerrier": lines(
        "qid,docid,docno,rank,score,query",
        'q1,7,d1,0,0.9,"a, b"',
        "q1,9,d4,1,0.25,a b",
        'q2,8,d3,0,1e-7,"c\nd"',
    ),
    "CSV of Windows": "\ufeffquery_id;doc_id;score\r\nq1;d1;0.9\r\nq1;d4;0.25\r\nq2;d3;1e-7\r\n",
    "TSV in another order": lines(
        "score\tdocno\tqid", "0.9\td1\tq1", "0.25\td4\tq1", "1e-7\td3\tq2"
    ),
    "JSON lines": lines(*map(json.dumps, FLAT)),
    "an array of rows": json.dumps(FLAT),
    "Tevatron's": lines("q1\td1\t0.9", "q1\td4\t0.25", "q2\td3\t1e-7"),
    "ColBERT's": lines("q1\td1\t1\t0.9", "q1\td4\t2\t0.25", "q2\td3\t1\t1e-7"),
    "the answer of _rank_eval": json.dumps(RANK_EVAL),
}
BY_RANK = {
    "LlamaIndex's": lines(*map(json.dumps, LISTS)),
    "an array of lists": json.dumps(LISTS),
    "Ragas's": json.dumps(
        [{"user_input": q, "retrieved_context_ids": [*docs]} for q, docs in RUN.items()]
    ),
    "MTEB's top_ranked": json.dumps(
        [{"query-id": q, "corpus-ids": [*docs]} for q, docs in RUN.items()]
    ),
    "HAKARI's": json.dumps(
        {"model": META, "artifacts": {"top_rankings": HAKARI}, "qrels": {"q1": ["d1"]}}
    ),
    "rows with ranks": lines("qid,docid,rank", "q1,d4,2", "q1,d1,1", "q2,d3,1"),
    "RankLLM's": json.dumps(
        [
            {
                "query": {"text": "a", "qid": q},
                "candidates": [{"docid": d, "rank": n} for n, d in enumerate(docs, 1)],
            }
            for q, docs in RUN.items()
        ]
    ),
    "lists in a CSV": lines("query_id,retrieved_ids", '''q1,"['d1', 'd4']"''', 'q2,"[""d3""]"'),
}
JUDGED = {
    "TREC": lines("q1 0 d1 3", "q1 0 d2 0", "q2 0 d3 1"),
    "BEIR": lines("query-id\tcorpus-id\tscore", "q1\td1\t3", "q1\td2\t0", "q2\td3\t1"),
    "BEIR as CSV": lines("query-id,corpus-id,score", "q1,d1,3.0", "q1,d2,0.0", "q2,d3,1.0"),
    "Quepid's": lines("query,docid,rating", "q1,d1,3.000", "q1,d2,0", "q2,d3,1"),
    "RankLib's": lines(
        "3 qid:q1 1:0.2 2:3 # d1 foo", "0 qid:q1 1:0 #docid = d2 inc = 1", "1 qid:q2 1:1 # d3"
    ),
    "with scores beside": lines("qid,docno,score,label", "q1,d1,.5,3", "q1,d2,.4,0", "q2,d3,.3,1"),
    "JSON lines": lines(
        '{"qid": "q1", "pid": "d1", "grade": 3}',
        '{"qid": "q1", "pid": "d2", "grade": 0}',
        '{"qid": "q2", "pid": "d3", "grade": 1}',
    ),
    "a golden set": json.dumps(
        [
            {"id": "q1", "query": "a", "expected_ids": ["d1", "d2"], "grades": [3, 0]},
            {"id": "q2", "query": "b", "expected": ["d3"]},
        ]
    ),
    "LlamaIndex's with grades": json.dumps(
        {
            "queries": {"q1": "a", "q2": "b"},
            "corpus": {"d1": "x"},
            "relevant_docs": {"q1": {"d1": 3, "d2": 0}, "q2": ["d3"]},
        }
    ),
    "OpenSearch's": json.dumps(
        {
            "judgmentRatings": [
                {
                    "query": "q1",
                    "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": "0"}],
                },
                {"query": "q2", "ratings": [{"docId": "d3", "rating": "1"}]},
            ]
        }
    ),
}


def written(folder: Path, content: str | bytes, name: str = "file") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def hits(file: Path, how: How | None = None) -> dict[str, dict[str, float]]:
    _, found = read_trec(file, how=how)
    return {
        str(query): dict(zip(rows["doc_id"], rows["score"], strict=True))
        for query, rows in found.groupby("query_id")
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_to_the_last_digit_in_every_shape(tmp_path: Path, name: str) -> None:
    assert hits(written(tmp_path, RUNS[name])) == RUN


@pytest.mark.parametrize("name", BY_RANK)
def test_a_run_without_scores_is_scored_by_its_ranks(tmp_path: Path, name: str) -> None:
    assert hits(written(tmp_path, BY_RANK[name])) == {"q1": {"d1": -1, "d4": -2}, "q2": {"d3": -1}}


@pytest.mark.parametrize("name", JUDGED)
def test_judgements_are_the_same_in_every_shape(tmp_path: Path, name: str) -> None:
    rows = read_qrels(written(tmp_path, JUDGED[name])).values.tolist()
    assert rows == [["q1", "d1", 3], ["q1", "d2", 0], ["q2", "d3", 1]]


def test_one_file_gives_its_run_and_its_judgements(tmp_path: Path) -> None:
    for name in ("LlamaIndex's", "HAKARI's"):
        file = written(tmp_path, BY_RANK[name])
        assert (found := held(file)) and found.kind == "run and qrels"
        assert read_qrels(file).values.tolist() == [["q1", "d1", 1]]
    file = written(tmp_path, RUNS["the answer of _rank_eval"])
    assert read_qrels(file).values.tolist() == [["q1", "d1", 1]]
    assert read(written(tmp_path, JUDGED["a golden set"])).texts == {"q1": "a", "q2": "b"}
    assert read(written(tmp_path, JUDGED["Quepid's"])).texts == {"q1": "q1", "q2": "q2"}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.int64()]
)
def test_parquet_is_read_by_its_names(tmp_path: Path, kind: pa.DataType) -> None:
    ids, numbers = ["7", "7", "8"], [0.9, 0.25, 1e-7]
    columns = [
        pa.array(ids).cast(pa.int64()).cast(kind)
        if kind == pa.int64()
        else pa.array(ids).cast(kind)
    ] * 1
    documents = pa.array(["d1", "d4", "d3"])
    pq.write_table(
        pa.table([*columns, documents, pa.array(numbers)], ["qid", "docno", "score"]),
        tmp_path / "r",
    )
    assert hits(tmp_path / "r") == {"7": RUN["q1"], "8": RUN["q2"]}
    pq.write_table(pa.Table.from_pylist(LISTS), tmp_path / "l.parquet")
    assert hits(tmp_path / "l.parquet") == {"q1": {"d1": -1, "d4": -2}, "q2": {"d3": -1}}
    grades = pa.table(
        [pa.array(["q1"]), pa.array(["d1"]), pa.array([3.0])], ["query-id", "corpus-id", "score"]
    )
    pq.write_table(grades, tmp_path / "g.parquet")
    assert read_qrels(tmp_path / "g.parquet").values.tolist() == [["q1", "d1", 3]]


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, lambda b: pa.compress(b, "zstd", asbytes=True)],
)
def test_every_packing_is_opened(tmp_path: Path, pack) -> None:
    for name in ("TREC", "BEIR's and ranx's dict", "TSV in another order"):
        assert hits(written(tmp_path, pack(RUNS[name].encode()))) == RUN


def test_scores_of_many_digits_stay_as_they_are(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).normal(size=400) * 10.0 ** np.arange(-200, 200).clip(-30, 30)
    rows = [(f"q{n % 7}", f"d{n}", float(score)) for n, score in enumerate(scores)]
    trec = lines(*(f"{q} Q0 {d} 1 {s!r} t" for q, d, s in rows))
    table = {q: {d: s for other, d, s in rows if other == q} for q, _, _ in rows}
    wanted = hits(written(tmp_path, trec))
    assert wanted == table
    for content in (
        json.dumps(table),
        lines("qid,docno,score", *(f"{q},{d},{s!r}" for q, d, s in rows)),
        lines(*(json.dumps({"qid": q, "docid": d, "score": s}) for q, d, s in rows)),
    ):
        assert hits(written(tmp_path, content)) == wanted
    columns = map(pa.array, zip(*rows, strict=True))
    pq.write_table(pa.table([*columns], ["qid", "docno", "score"]), tmp_path / "file")
    assert hits(tmp_path / "file") == wanted


TWO = {"default": {"test": RUN, "dev": RUN}}


def test_of_several_rankings_of_a_query_one_is_chosen(tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps(TWO))
    with pytest.raises(
        WrongInput, match=r"2 rankings of the same queries .'default/test', 'default"
    ):
        read_trec(file)
    assert hits(file, How(part="default/dev")) == RUN
    with pytest.raises(WrongInput, match="no part 'x'; it has 'default/test', 'default/dev'"):
        read_trec(file, how=How(part="x"))
    file = written(tmp_path, json.dumps([{"name": n, "qid": "q1", "run": [n]} for n in "ab"]))
    assert hits(file, How(part="b")) == {"q1": {"b": -1}}


def test_grades_that_are_no_whole_numbers(tmp_path: Path) -> None:
    values = (0, 0.5, 1.5, 2.75)
    rows = lines("qid,docno,grade", *(f"q1,d{v},{v}" for v in values))
    trec = lines(*(f"q1 0 d{v} {v}" for v in values))
    for content, line in ((rows, 3), (trec, 2)):
        file = written(tmp_path, content)
        with pytest.raises(
            WrongInput,
            match=rf"line {line}: relevance is '0.5', not a whole .*--levels or --round",
        ):
            read(file)
        found = read(file, How(levels=(0.5, 1.5, 2.5)))
        assert found.judgements["relevance"].tolist() == [0, 1, 2, 3]
        assert (
            found.told == "a number's grade is the number of levels (0.5, 1.5, 2.5) that it reaches"
        )
        found = read(file, How(rounded=True))
        assert found.judgements["relevance"].tolist() == [0, 1, 2, 3]
        assert found.told == "3 fractions were rounded to grades, halves up"
    words = ("relevant", "Partial", "irrelevant")
    found = read(written(tmp_path, lines("qid,docno,grade", *(f"q1,{w},{w}" for w in words))))
    assert found.judgements["relevance"].tolist() == [2, 1, 0]
    assert found.told.endswith("'Partial' is 1, 'irrelevant' is 0, 'relevant' is 2")
    with pytest.raises(WrongInput, match="line 2: relevance is 'meh', not a whole number"):
        read(written(tmp_path, "qid,docno,grade\nq1,d1,meh\n"))
    with pytest.raises(WrongInput, match="ascending numbers"):
        read(written(tmp_path, rows), How(levels=(2, 1)))


def test_numbers_of_a_dict_in_any_order_are_scores_if_they_are_broken(tmp_path: Path) -> None:
    scores = {f"d{n}": (n * 7 % 13) / 13 + 0.01 for n in range(13)}
    assert hits(written(tmp_path, json.dumps({"q1": scores}))) == {"q1": scores}
    grades = {"q1": {f"d{n}": n * 7 % 4 for n in range(13)}}
    file = written(tmp_path, json.dumps(grades))
    with pytest.raises(WrongInput, match=r"a run or judgements.*'q1 d0 0'; 'q1 d1 3'; 'q1 d2 2'"):
        hits(file)
    for how in (None, How("judgements")):
        assert read_qrels(file, how)["relevance"].tolist() == [*grades["q1"].values()]


RUN_FAULTS = {
    "no column": (
        "qid,docid,note\nq1,d1,x\n",
        "line 1: no one column score, rank or relevance in 'qid'",
    ),
    "no query": ("docid,score\nd1,1\n", "line 1: no one column query_id in 'docid', 'score'"),
    "too few": ("qid,docid,score\nq1,d1\n", "line 2: 2 columns where a row has 3"),
    "no id": ("qid,docid,score\nq1,d1,1\nq1,,1\n", "line 3: it has no doc_id"),
    "no number": (
        "qid,docid,score\nq1,d1,1\nq1,d2,high\n",
        "line 3: score is 'high', not a finite",
    ),
    "NaN": ("qid,docid,score\nq1,d1,nan\n", "line 2: score is 'nan', not a finite number"),
    "NaN in JSON": (
        '{"q1": {"d1": 0.5, "d3": 0.25, "d2": NaN}}',
        "query 'q1', document 'd2': the score is no",
    ),
    "infinite": (
        '{"qid": "q1", "docid": "d1", "score": 1e99}\n' * 2,
        "line 1: query 'q1', document",
    ),
    "null": (
        '[{"qid": "q1", "docid": "d1", "score": 1}, {"qid": "q1", "docid": "d2", "score": null}]',
        "row 2: the score is 'None', not a number",
    ),
    "words": (
        '[{"qid": "q1", "docid": "d1", "score": "x"}]',
        "row 1: the score is \"'x'\", not a num",
    ),
    "id of decimals": (
        '[{"qid": 1.5, "docid": "d1", "score": 1}]',
        "row 1: query_id is '1.5'; write",
    ),
    "id that is none": (
        '[{"qid": "q1", "docid": null, "score": 1}]',
        "row 1: doc_id is 'None'; write",
    ),
    "an odd row": (
        '[{"qid": "q1", "docid": "d1", "score": 1}, {"x": 1}]',
        "row 2: no query or no doc",
    ),
    "an odd line": (
        '{"qid": "q1", "docid": "d1", "score": 1}\n{"x": 1}\n',
        "line 2: no query or no",
    ),
    "no query id": (
        '[{"retrieved_ids": ["d1"]}]',
        "row 1: no query id or text next to 'retrieved_ids'",
    ),
    "only empty lists": ('[{"qid": "q1", "retrieved_ids": []}]', "no queries with documents"),
    "not JSON": ('{"q1": {"d1": 1,}}', "line 1: not JSON"),
    "broken line": ('{"qid": "q1", "docid": "d1", "score": 1}\n{"qid"\n', "line 2: not JSON"),
    "twice": ('{"q1": {"d1": 1.5, "d1": 2.5}}', "the key 'd1' occurs twice"),
    "no runs": ('{"a": 1, "b": {"c": "d"}}', "no queries with documents in it"),
    "half a letter": ('{"q1": {"\\ud800": 1.5}}', "an escape in it is not a valid character"),
    "no id in RankLib": ("1 qid:q1 1:2\n", "line 1: no document id after a #"),
    "judgements": (
        "qid,docid,rating\nq1,d1,1\n",
        "looks like judgements, not a run .*or add --as run",
    ),
    "two names": ("qid,docid,score,score\nq1,d1,1,2\n", "line 1: two columns are named 'score'"),
}


@pytest.mark.parametrize("name", RUN_FAULTS)
def test_a_wrong_file_is_one_sentence_with_its_place(tmp_path: Path, name: str) -> None:
    content, sentence = RUN_FAULTS[name]
    file = written(tmp_path, content)
    with pytest.raises(BeirscopeError, match=sentence) as error:
        read_trec(file)
    assert str(error.value).startswith(str(file)) and "\n" not in str(error.value)
    assert re.search(r"[:,] ", str(error.value))


def test_wrong_parquet_is_one_sentence_with_its_row(tmp_path: Path) -> None:
    def refused(qid: pa.Array, number: pa.Array, name: str = "score") -> str:
        pq.write_table(
            pa.table([qid, pa.array(["d1", "d2"]), number], ["qid", "docid", name]), tmp_path / "f"
        )
        with pytest.raises(WrongInput) as error:
            read_trec(tmp_path / "f")
        return str(error.value).removeprefix(str(tmp_path / "f"))

    ids, numbers = pa.array(["q1", "q1"]), pa.array([1.0, 0.5])
    assert "qid is of the type double: write ids as strings" in refused(
        pa.array([1.0, 2.0]), numbers
    )
    assert refused(pa.array(["q1", None]), numbers).startswith(", row 2: it has no query_id")
    assert refused(ids, pa.array([1.0, None])).startswith(", row 2: query 'q1', document 'd2'")
    assert "no one column score, rank or relevance in" in refused(ids, numbers, "x")
    (tmp_path / "f").write_bytes(b"PAR1 and no more")
    with pytest.raises(WrongInput, match="cannot be read as Parquet"):
        read_trec(tmp_path / "f")


def test_odd_but_right_files_are_read(tmp_path: Path) -> None:
    once = written(tmp_path, "qid,docid,score\nq1,d1,1\n")
    assert hits(once) == {"q1": {"d1": 1}}
    from_0 = written(tmp_path, "qid,docid,rank\nq1,d1,0\nq1,d2,1\n")
    assert hits(from_0) == {"q1": {"d1": 0, "d2": -1}}
    twice = written(tmp_path, "qid,docid,score\nq1,d1,1\nq1,d1,2\n")
    assert len(read_trec(twice)[1]) == 2
    mixed = written(
        tmp_path, '[{"qid": 1, "run": ["7", 8]}, {"qid": "1a", "run": "d"}, {"qid": 2, "run": []}]'
    )
    assert hits(mixed) == {"1": {"7": -1, "8": -2}, "1a": {"d": -1}}
    assert (found := held(mixed)) and found.remarks == ["1 list without a document left out"]
    assert hits(written(tmp_path, '{"q1": {"d1": 0.5}, "q2": {}}')) == {"q1": {"d1": 0.5}}
    spaced = written(tmp_path, 'qid,docid,score\n"a b","d, 1",2\n')
    assert hits(spaced) == {"a b": {"d, 1": 2}}


TEXTS = {
    "a.csv": "qid,docno,score,text\n1,d1,2,one\n1,d2,1,two\n",
    "a.jsonl": lines(
        '{"query_id": "1", "retrieved_ids": ["d1", "d2"], "retrieved_contexts": ["one", "two"]}',
        '{"query_id": "2", "retrieved_ids": ["d1"], "retrieved_contexts": ["one"]}',
    ),
    "a.json": '[{"qid": "q", "hits": [{"id": "d1", "body": "one"}, {"id": "d2", "body": "two"}]}]',
    "b.json": '{"corpus": {"d1": "one", "d2": "two"}, "relevant_docs": {"1": ["d1"]}}',
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_in_the_rows_are_those_of_the_documents(tmp_path: Path, name: str) -> None:
    found = held(written(tmp_path, TEXTS[name], name))
    assert found and found.documents == {"d1": "one", "d2": "two"}


def test_texts_without_ids_are_documents_too(tmp_path: Path) -> None:
    rows = [{"user_input": "q", "retrieved_contexts": ["one", "two"]}]
    rows += [{"user_input": "r", "retrieved_contexts": ["two"]}]
    found = held(written(tmp_path, json.dumps(rows), "ragas.json"))
    assert found and found.run and sorted(found.documents.values()) == ["one", "two"]
    first, second, again = found.as_run()["doc_id"].to_pylist()
    assert [found.documents[one] for one in (first, second)] == ["one", "two"]
    assert again == second != first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no queries with documents in it"),
        ("{}", "no queries with documents in it"),
        ("[1,2,", "not JSON"),
        ('{"q1": {"d1": 1.0', "not JSON"),
    ],
)
def test_empty_json_and_json_that_was_cut_off_are_called_so(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(WrongInput, match=said):
        held(file)

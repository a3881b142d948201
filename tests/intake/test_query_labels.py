"""Labels of queries from files: what is taken in, and what each mistake is answered with."""

from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, Missing, WrongInput
from compute.datasets import Dataset
from compute.intake import query_labels
from compute.jobs import removing
from compute.recompute.run import read
from compute.store import provenance
from compute.store.loading import Bench
from tests.support import filled

TSV = "query_id\tkey\tvalue\nq1\ttopic\tsea\nq2\ttopic\tland\nq2\tyear\t1999\n"
LABELS = [("q1", "topic", "sea"), ("q2", "topic", "land"), ("q2", "year", "1999")]


def take(
    bench: Bench, tiny: Dataset, content: str, *, replace: bool = False
) -> tuple[list[tuple[str, ...]], bool]:
    file = bench.settings.home / "labels"
    file.write_text(content, "utf-8")
    part, new = query_labels.import_file(bench, file, tiny, replace=replace)
    return [*read(part)[query_labels.COLUMNS].itertuples(index=False, name=None)], new


@pytest.mark.parametrize(
    "content",
    [
        TSV,
        TSV.partition("\n")[2],
        "\ufeff" + TSV.replace("\n", "\r\n"),
        "value\tkey\tquery_id\nsea\ttopic\tq1\nland\ttopic\tq2\n1999\tyear\tq2\n",
        '{"_id": "q1", "text": "ships", "metadata": {"topic": "sea", "more": {}}}\n'
        '{"_id": "q2", "text": "rivers", "title": "", "topic": "land", "year": 1999}\n',
    ],
    ids=["with names", "without", "from Windows", "another order", "queries.jsonl"],
)
def test_each_form_holds_the_same_labels(bench: Bench, tiny: Dataset, content: str) -> None:
    assert take(bench, tiny, content) == (LABELS, True)
    assert take(bench, tiny, content) == (LABELS, False)


def test_other_keys_stay_and_the_same_is_replaced_only_when_that_is_said(
    bench: Bench, tiny: Dataset
) -> None:
    take(bench, tiny, TSV)
    more = take(bench, tiny, "q1\tlevel\thard\n")[0]
    assert more == [("q1", "level", "hard"), *LABELS]
    with pytest.raises(Conflict, match=r"different labels on tiny.*--replace"):
        take(bench, tiny, "q1\ttopic\tsky\n")
    assert take(bench, tiny, "q1\ttopic\tsky\n", replace=True)[0] == [
        ("q1", "level", "hard"),
        ("q1", "topic", "sky"),
        ("q2", "year", "1999"),
    ]


def test_labels_of_some_queries_drop_no_others(bench: Bench, tiny: Dataset) -> None:
    take(bench, tiny, TSV)
    assert take(bench, tiny, "q1\ttopic\tsea\n") == (LABELS, False)
    assert take(bench, tiny, "q3\ttopic\tsea\n")[0][:3] == [*LABELS[:2], ("q3", "topic", "sea")]
    assert take(bench, tiny, "q1\ttopic\tsea\n", replace=True)[0] == [LABELS[0], LABELS[2]]


def test_each_key_keeps_what_made_its_labels_and_can_be_dropped(
    bench: Bench, tiny: Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take(bench, tiny, TSV)
    take(bench, tiny, "q3\ttopic\tsea\nq1\tcolour\tred\nq2\tcolour\tblue\n")
    (told,) = provenance.of_datasets(bench.store, ["tiny"])
    assert [(one["key"], one["command"]) for one in told["labels"]] == [
        (key, "python -m compute import-labels labels --dataset tiny")
        for key in ("topic", "topic", "year", "colour")
    ]
    assert len({one["sha256"] for one in told["labels"]}) == 2
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    remove = ["remove", "tiny", "--labels"]
    assert main([*remove, "topic"]) == 0 and main([*remove, "topic", "--yes"]) == 0
    out = (
        "would remove 3 labels topic of tiny; add --yes to do it\nremoved 3 labels topic of tiny\n"
    )
    assert capsys.readouterr().out == out
    (told,) = provenance.of_datasets(bench.store, ["tiny"])
    assert {one["key"] for one in told["labels"]} == {"year", "colour"}
    assert main([*remove, "topic"]) == 2
    assert "tiny has no labels 'topic': known: colour, year" in capsys.readouterr().err
    for key in ("year", "colour"):
        assert query_labels.drop(bench.store, "tiny", key)
    assert bench.store.part(query_labels.KIND, "tiny") is None
    with pytest.raises(Missing, match="tiny has no labels 'year': it has none"):
        query_labels.drop(bench.store, "tiny", "year")


def test_values_are_counted_with_those_stored(bench: Bench, tiny: Dataset) -> None:
    half = "".join(f"x{n}\ttopic\t{n}\n" for n in range(39))
    take(bench, tiny, f"q1\ttopic\ta\n{half}")
    queries = [f"q{n}\ttopic\t{n}\n" for n in (1, 2, 3)]
    with pytest.raises(Conflict):
        take(bench, tiny, queries[0])
    assert len(take(bench, tiny, queries[1])[0]) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_labels, "MOST_VALUES", 2)
        with pytest.raises(WrongInput, match="with those on tiny 'topic' has 3 values"):
            take(bench, tiny, queries[2])


def test_fields_of_queries_that_tell_no_kinds_are_left_out_and_named(
    bench: Bench, tiny: Dataset
) -> None:
    told = "what a relevant document says, at length " * 2
    lines = [
        f'{{"_id": "q1", "topic": " sea ", "narrative": "{told}", "": "x", "note": " "}}\n',
        *(f'{{"_id": "x{n}", "url": "{n}"}}\n' for n in range(41)),
    ]
    assert take(bench, tiny, "".join(lines))[0] == LABELS[:1]
    part = bench.store.part(query_labels.KIND, "tiny")
    assert part is not None
    said = query_labels.said(part)
    assert said.endswith("left out, since they form no groups: '', 'narrative', 'url'")
    with pytest.raises(WrongInput, match="contains no label but 'url', which make no query groups"):
        take(bench, tiny, "".join(lines[1:]))


def test_labels_of_another_split_are_left_out_and_said(bench: Bench, tiny: Dataset) -> None:
    take(bench, tiny, TSV + "train-7\ttopic\tsea\n")
    part = bench.store.part(query_labels.KIND, "tiny")
    assert part is not None
    assert query_labels.said(part) == (
        "tiny now has 3 labels of 2 queries: topic (2 values), year (1 value);"
        " left out: 1 label of queries that it does not have"
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q1\ttopic\n", "line 1: not query_id, key and value separated by tabs"),
        ("q1\ttopic\tsea\nq1\t\tsea\n", "line 2: not query_id, key and value"),
        ("q1\ttopic\tsea\nq1\ttopic\tland\n", "line 2: query 'q1' has another 'topic' above"),
        ("other\ttopic\tsea\n", "tiny has none of the queries"),
        ("", "contains no label"),
        ('{"text": "no id"}\n', "line 1: no query with an _id"),
        ('{"_id": "q1"}\n{"_id": "q2", "metadata": 3}\n', "line 2: no query with an _id"),
        ('{"_id": "q1", "text": "ships"}\n', "contains no label"),
        (f"q1\ttopic\t{'x' * 61}\n", "line 1: .* is not a label: write at most 60 characters"),
        ("q1\ttopic\ta\x1bb\n", "line 1: .* is not a label"),
        (f"q1\ttopic\t{'x' * 200_000}\n", "line 1: .* is not a label"),
        ("q1\ttopic\tsea\rq2\ttopic\r", "line 2: not query_id, key and value"),
        ("".join(f"q{n}\ttopic\t{n}\n" for n in range(41)), "'topic' has 41 values: too many"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    bench: Bench, tiny: Dataset, content: str, told: str
) -> None:
    with pytest.raises(WrongInput, match=told):
        take(bench, tiny, content)
    assert bench.store.part(query_labels.KIND, "tiny") is None


def test_a_file_that_is_not_there(bench: Bench, tiny: Dataset) -> None:
    with pytest.raises(Missing):
        query_labels.import_file(bench, Path("nothing.tsv"), tiny)


def test_labels_go_with_their_dataset(bench: Bench, tiny: Dataset) -> None:
    take(bench, tiny, TSV)
    removing.remove(bench.store, "tiny", "", "")
    assert bench.store.part(query_labels.KIND, "tiny") is None


def test_any_label_can_be_the_family_of_a_dataset(bench: Bench, tiny: Dataset) -> None:
    named = "".join(f"x{n}\turl\t{n}\n" for n in range(41))
    content = TSV + "q1\turl\ta\nq2\turl\ta\n" + named
    file = bench.settings.home / "labels"
    file.write_text(content, "utf-8")
    with pytest.raises(WrongInput, match="'url' has 42 values"):
        query_labels.import_file(bench, file, tiny)
    first, _ = query_labels.import_file(bench, file, tiny, family="url")
    assert query_labels.families(bench.store, "tiny").to_dict() == {"q1": "a", "q2": "a"}
    assert "'url' names the families of queries" in query_labels.said(first)
    with pytest.raises(Missing, match=r"no labels 'top': did you mean topic\?"):
        query_labels.declare(bench, tiny, family="top")
    other, new = query_labels.declare(bench, tiny, family="topic")
    assert (new, other.fingerprint != first.fingerprint) == (True, True)
    assert query_labels.families(bench.store, "tiny").to_dict() == {"q1": "sea", "q2": "land"}
    take(bench, tiny, "q1\tlevel\thard\n")
    assert len(query_labels.families(bench.store, "tiny")) == 2
    query_labels.drop(bench.store, "tiny", "topic")
    assert query_labels.families(bench.store, "tiny").empty
    query_labels.declare(bench, tiny, family="level")
    query_labels.declare(bench, tiny, family="")
    assert query_labels.families(bench.store, "tiny").empty


def test_a_reason_replaces_another_of_its_query_and_is_removed_when_given_again(
    bench: Bench, tiny: Dataset
) -> None:
    take(bench, tiny, TSV)
    query_labels.declare(bench, tiny, family="topic")
    for query, reason in (("q1", "other"), ("q2", "other"), ("q1", "wrong entity")):
        query_labels.give(bench.store, "tiny", query, reason)
    assert reasons(bench) == {"q1": "wrong entity", "q2": "other"}
    query_labels.give(bench.store, "tiny", "q2", "other")
    assert reasons(bench) == {"q1": "wrong entity"}
    (part,) = bench.store.parts("query_labels", "tiny")
    assert query_labels.key_of(part, "family") == "topic" and part.rows == len(LABELS) + 1
    assert [*query_labels.made_by_key(part)] == ["topic", "year", "reason"]
    query_labels.give(bench.store, "tiny", "q1", "wrong entity")
    assert reasons(bench) == {}


def reasons(bench: Bench) -> dict[str, str]:
    (part,) = bench.store.parts("query_labels", "tiny")
    rows = read(part)
    return dict(rows[rows["key"] == "reason"][["query_id", "value"]].to_numpy().tolist())


def test_a_dataset_keeps_the_reasons_that_it_offers(bench: Bench, tiny: Dataset) -> None:
    def offered() -> list[str]:
        return query_labels.reasons(bench.store.part("query_labels", "tiny"))

    assert offered() == [*query_labels.USUAL]
    query_labels.offer(bench.store, "tiny", [" rare name ", "", "typo", "typo"])
    take(bench, tiny, TSV)
    for key in ("topic", "year"):
        query_labels.drop(bench.store, "tiny", key)
    query_labels.give(bench.store, "tiny", "q1", "typo")
    assert offered() == ["rare name", "typo"] and reasons(bench) == {"q1": "typo"}
    for names, said in (
        ([], "0 reasons: give 1 to 9"),
        (["a" * 61], "is not a reason: write at most"),
    ):
        with pytest.raises(WrongInput, match=said):
            query_labels.offer(bench.store, "tiny", names)


def test_a_key_of_numbers_can_weight_queries(bench: Bench, tiny: Dataset) -> None:
    file = bench.settings.home / "labels"

    def weigh(content: str, weight: str | None = "hits") -> str:
        file.write_text(content, "utf-8")
        return query_labels.said(query_labels.import_file(bench, file, tiny, weight=weight)[0])

    for value in ("-1", "nan", "inf", "many", "1e999"):
        told = rf"labels, line 2: the weight 'hits' of query 'q2' is '{value}': give a number of 0"
        with pytest.raises(WrongInput, match=told):
            weigh(f"q1\thits\t3\nq2\thits\t{value}\n")
    with pytest.raises(WrongInput, match=r"labels, line 1: all weights 'hits' are 0: give some"):
        weigh("q1\thits\t0\nq2\thits\t0.0\n")
    assert bench.store.part(query_labels.KIND, "tiny") is None
    assert "leave it out if the queries were sampled by it" in weigh("q1\thits\t3\nq2\thits\t0\n")
    part = bench.store.part(query_labels.KIND, "tiny")
    assert query_labels.key_of(part, query_labels.WEIGHT) == "hits"
    assert "weights queries" in weigh("q1\ttopic\tsea\n", None)
    with pytest.raises(WrongInput, match="tiny: the weight 'topic' of query 'q1' is 'sea'"):
        query_labels.declare(bench, tiny, weight="topic")
    part, _ = query_labels.declare(bench, tiny, weight="")
    assert query_labels.key_of(part, query_labels.WEIGHT) == ""


def test_a_baseline_is_kept_beside_labels(bench: Bench, tiny: Dataset) -> None:
    with pytest.raises(Missing, match=r"tiny has no scores of 'base': import or compute one first"):
        query_labels.declare(bench, tiny, baseline="base")
    filled.add(bench, tiny, {"base": filled.RUNS["plain"]})
    with pytest.raises(Missing, match=r"no scores of 'bas': did you mean base\?"):
        query_labels.declare(bench, tiny, baseline="bas")
    part, new = query_labels.declare(bench, tiny, baseline="base")
    assert new and query_labels.said(part) == (
        "tiny now has 0 labels of 0 queries; its baseline is base"
    )
    assert query_labels.declare(bench, tiny, baseline="base")[1] is False
    take(bench, tiny, TSV)
    query_labels.declare(bench, tiny, family="topic")
    for key in ("topic", "year"):
        query_labels.drop(bench.store, "tiny", key)
    part = bench.store.part(query_labels.KIND, "tiny")
    assert query_labels.key_of(part, query_labels.BASELINE) == "base"
    part, _ = query_labels.declare(bench, tiny, baseline="")
    assert query_labels.key_of(part, query_labels.BASELINE) == ""

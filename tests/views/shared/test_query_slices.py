"""Kinds of queries: each by a worked example, and numbers by their rule."""

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame, Series

from compute.views.shared import query_slices
from compute.views.shared.query_slices import FIRST, GROUPS, RARE, RELEVANT, WORDS
from tests.support.worlds import FEWER

NONE = DataFrame(columns=["dataset", "query_id", "key", "value"])
TEXTS = ["What is it?", "Is it so", "ships", '"how" so', None]


def asked(n: int = 5, **columns: object) -> DataFrame:
    ids = {"dataset": "d", "query_id": [f"q{number}" for number in range(n)], "text": None}
    return DataFrame(ids | {"n_words": 3, "n_relevant": 1} | columns).astype({"text": "str"})


def labelled(*rows: tuple[str, str, str]) -> DataFrame:
    return DataFrame(rows, columns=["query_id", "key", "value"]).assign(dataset="d")


def told(of: Series) -> list[object]:
    return [None if value != value else value for value in of.astype(object)]


def test_the_word_that_a_question_begins_with() -> None:
    keyed = query_slices.by_key(asked(text=TEXTS), NONE)
    assert told(keyed[FIRST]) == ["what", "yes or no", "none of these", "how", None]
    assert [*keyed] == [FIRST], "what tells no two kinds apart is no key"


def test_labels_stand_in_the_order_of_numbers_then_of_letters() -> None:
    rows = [(f"q{n}", "year", value) for n, value in enumerate(["10", "9", "b", "a"])]
    keyed = query_slices.by_key(asked(), labelled(*rows, ("q9", "year", "other")))
    assert told(keyed["year"]) == ["10", "9", "b", "a", None]
    assert keyed["year"].cat.categories.to_list() == ["9", "10", "a", "b", "other"]


def test_a_label_that_is_called_as_a_kind_of_ours_takes_nothing_away() -> None:
    rows = [(f"q{n}", key, str(n)) for key in ("query length", "topic") for n in (0, 1)]
    rows += [("q0", "words", "many"), ("q1", "words", "few")]
    keyed = query_slices.by_key(asked(n_words=[1, 2, 3, 4, 5]), labelled(*rows))
    assert told(keyed[WORDS]) == ["1", "2", "3", "4", "5"]
    assert told(keyed["words (labels)"])[:2] == ["many", "few"]
    assert [*keyed] == [WORDS, "query length (labels)", "topic", "words (labels)"]


def test_labels_of_queries_that_are_gone_are_not_counted() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table datasets as select 'd' as name, 'en' as language;"
            "create table parts as select 'query_labels' as kind, 'd' as dataset;"
            "create table queries as select 'd' as dataset, 'q' || range as query_id from range(3)"
        )
        connection.execute(
            "create table query_labels as select 'd' as dataset, 'q' || range as query_id,"
            " 'topic' as key, if(range % 2 = 0, 'sea', 'land') as value from range(9)"
        )
        found = query_slices.kinds(connection, ["d"], ready=False)
    assert found[["value", "n_queries", "n_all"]].to_numpy().tolist() == [
        ["land", 1, 3],
        ["sea", 2, 3],
    ]


def test_a_query_has_the_language_of_its_label_or_else_of_its_dataset() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table parts as select 'queries' as kind, unnest(['d', 'e']) as dataset;"
            "create table datasets as select unnest(['d', 'e', 'f']) as name,"
            " unnest(['en', 'en', 'pl']) as language;"
            "create table queries as select unnest(['d', 'd', 'e']) as dataset,"
            " unnest(['q1', 'q2', 'q1']) as query_id;"
            "create table query_labels (dataset text, query_id text, key text, value text)"
        )
        assert query_slices.labels(connection, ["d", "e"]).empty
        assert query_slices.labelled(connection).empty, "nothing of f is stored"
        connection.execute("insert into query_labels values ('d', 'q2', 'language', 'de')")
        connection.execute("insert into parts values ('query_labels', 'd')")
        mixed = query_slices.kinds(connection, ["d", "e"], ready=False)
        assert query_slices.labels(connection, ["e"]).empty, "labels of another dataset"
        connection.execute("delete from query_labels")
        connection.execute("delete from parts where kind = 'query_labels'")
        connection.execute("update datasets set language = 'pl' where name = 'e'")
        assert query_slices.labelled(connection)["dataset"].tolist() == ["d", "e"]
        found = query_slices.of_kind(connection, ["d", "e"], "language", "en", ready=False)
    columns = ["key", "value", "n_queries", "n_datasets"]
    assert mixed[columns].to_numpy().tolist() == [
        ["language", "de", 1, 1],
        ["language", "en", 2, 2],
    ]
    assert found.to_numpy().tolist() == [["d", "q1"], ["d", "q2"]]


def test_words_are_unknown_where_no_text_is() -> None:
    keyed = query_slices.by_key(asked(n_words=[0, 0, 2, 3, 3], n_relevant=[0, 0, 1, 1, 9]), NONE)
    assert told(keyed[WORDS]) == [None, None, "2", "3", "3"]
    assert told(keyed[RELEVANT]) == ["0", "0", "1", "1", "9"]


_TABLES = """
create table datasets as select 'd' as name, 'c' as collection, 'en' as language;
create table parts as select 'ngrams' as kind, 'c' as dataset;
create table ngrams as select 'c' as dataset, n, term, count from (values
    (1, 'the', 900), (1, 'ship', 10), (1, 'keel', 9), (2, 'the keel', 50), (1, 'straße', 10)
) as counts(n, term, count);
create table queries as select 'd' as dataset, * from (values
    ('q1', 'The ship, the SHIP'), ('q2', 'the keel'), ('q3', 'the ship Straße is'), ('q4', null)
) as asked(query_id, text);
create table scores as select 'd' as dataset, * from (values
    ('a', 'q1', 'nDCG@10', 0.3), ('b', 'q1', 'nDCG@10', 1.0), ('a', 'q2', 'nDCG@10', 0.0),
    ('b', 'q2', 'nDCG@10', 0.0), ('a', 'q3', 'nDCG@10', 0.0), ('b', 'q3', 'nDCG@10', 0.2),
    ('b', 'q2', 'R@100', 1.0)
) as values(system, query_id, measure, value)
"""


def test_the_share_of_words_that_are_rare_in_the_collection() -> None:
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        rare = query_slices.rare_words(connection, ["d"])
    assert rare.to_numpy().tolist() == [["d", "q1", 0.0], ["d", "q2", 0.5], ["d", "q3", 0.25]]
    ids = [f"q{number}" for number in range(1, 6)]
    keyed = query_slices.by_key(asked(query_id=ids), NONE, rare)
    assert told(keyed[RARE]) == ["none", "half or more", "under half", None, None]


def test_rare_words_are_told_in_every_script() -> None:
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        connection.execute(
            "insert into ngrams values ('c', 1, '检索', 10), ('c', 1, 'caf\u00e9', 10);"
            "insert into queries values ('d', 'q5', '检索系统'), ('d', 'q6', 'Cafe\u0301')"
        )
        rare = query_slices.rare_words(connection, ["d"])
    assert rare.to_numpy().tolist()[3:] == [["d", "q5", 0.5], ["d", "q6", 0.0]]


def test_kinds_by_rare_words_are_named_before_any_word_is_looked_up() -> None:
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        connection.execute("alter table queries add column n_words int default 2")
        connection.execute(
            "create table judgements as select 'd' as dataset, 'q1' as query_id, 1 as relevance;"
            "create table query_labels (dataset text, query_id text, key text, value text)"
        )
        quick = query_slices.kinds(connection, ["d"], rare=False)
        exact = query_slices.kinds(connection, ["d"])
        connection.execute("drop table ngrams")
        own = query_slices.of_kind(connection, ["d"], RELEVANT, "1")
        connection.execute("update queries set text = null")
        without_texts = query_slices.kinds(connection, ["d"], rare=False)
        connection.execute("update queries set text = 'a ship'; delete from parts")
        bare = query_slices.kinds(connection, ["d"], rare=False)
    named = [RARE, "none"], [RARE, "under half"], [RARE, "half or more"]
    assert [row for row in quick[["key", "value"]].to_numpy().tolist() if row[0] == RARE] == [
        *named
    ]
    assert exact.loc[exact["key"] == RARE, "n_queries"].tolist() == [1, 1, 1]
    assert own["query_id"].tolist() == ["q1"]
    assert RARE not in bare["key"].tolist()
    assert RARE not in without_texts["key"].tolist()


def test_how_many_systems_have_a_relevant_document_at_the_top() -> None:
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        found = query_slices.answered(connection, ["d"])
    assert found[["query_id", "answered"]].to_numpy().tolist() == [
        ["q1", "all"],
        ["q2", "none"],
        ["q3", "some"],
    ]


@FEWER
@given(st.lists(st.integers(1, 40), min_size=2, max_size=60))
def test_numbers_make_few_groups_that_share_none(numbers: list[int]) -> None:
    keyed = query_slices.by_key(asked(len(numbers), n_relevant=numbers), NONE)
    if len(set(numbers)) == 1:
        assert RELEVANT not in keyed
        return
    if RELEVANT not in keyed:
        # One number has nearly all queries: no other is left for a group of its own.
        assert np.quantile(numbers, 0.2, method="lower") == max(numbers)
        return
    names = keyed[RELEVANT].cat.categories.to_list()
    assert len(names) <= GROUPS
    flat = [int(end) for name in names for end in dict.fromkeys(name.split(" to "))]
    assert flat == sorted(set(flat))
    for number, name in zip(numbers, keyed[RELEVANT], strict=True):
        first, _, last = str(name).partition(" to ")
        assert int(first) <= number <= int(last or first)

import gzip
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import Missing, WrongInput
from compute.evaluate.runs import canonical, write_trec
from tests.support import worlds
from tests.support.ranked_lists import read_trec

LINES = "q1 Q0 d2 1 2.5 sys\nq1 Q0 d1 2 1.5 sys\n01 Q0 d1 1 3 sys\n"
HITS = [("q1", "d2", 2.5), ("q1", "d1", 1.5), ("01", "d1", 3.0)]


def hits(*rows: tuple[str, str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


def ranking(*rows: tuple[str, str, float], depth: int = 1000, drop_self: bool = False) -> list[str]:
    return canonical(hits(*rows), depth=depth, drop_self=drop_self).frame["doc_id"].tolist()


def written(tmp_path, text: str | bytes):
    file = tmp_path / "run.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def rows(frame: pd.DataFrame) -> list[tuple]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize("tail", ["", "/index.html"])
@pytest.mark.parametrize("again", [0, 1, 500])
def test_ids_that_begin_and_end_alike_are_distinct_and_repeated_ones_are_not(tail, again):
    """Of ids of equal length, a hash compares only the first and last eight bytes."""
    ids = [f"https://host/{number:06}{tail}" for number in range(2000)]
    own = [("q1", doc_id, 1.0 + number) for number, doc_id in enumerate(ids)]
    run = canonical(
        hits(*own, *(("q1", one, 0.5) for one in ids[:again])), depth=3000, drop_self=False
    )
    assert run.duplicates == again and run.tied == 0
    assert rows(run.frame) == [
        ("q1", doc_id, rank, score) for rank, (_, doc_id, score) in enumerate(own[::-1], start=1)
    ]


@worlds.SOME
@given(worlds.hits(), st.sampled_from((1, 3, 1000)), st.booleans())
def test_ranking_is_by_32_bit_score_then_bytes_of_the_id(hits, depth, drop_self):
    kept = hits[hits["query_id"] != hits["doc_id"]] if drop_self else hits
    run = canonical(hits, depth=depth, drop_self=drop_self)
    expected = [
        (query, doc_id, rank, score)
        for query, found in sorted(worlds.lists(kept).items())
        for rank, (doc_id, score) in enumerate(list(found.items())[:depth], start=1)
    ]
    assert rows(run.frame) == expected
    assert run.self_hits == len(hits) - len(kept)
    assert run.duplicates == len(kept) - len(kept[["query_id", "doc_id"]].drop_duplicates())


@worlds.CASES
@given(worlds.hits())
def test_the_order_expected_here_is_that_of_pytrec_eval(hits):
    for query_id, found in worlds.lists(hits).items():
        for rank, doc_id in enumerate(found, start=1):
            oracle = pytrec_eval.RelevanceEvaluator({query_id: {doc_id: 1}}, {"recip_rank"})
            value = oracle.evaluate({query_id: found})[query_id]["recip_rank"]
            assert math.isclose(value, 1 / rank)


def test_ties_are_broken_by_the_id_descending_as_text():
    assert ranking(("q", "10", 1), ("q", "9", 1)) == ["9", "10"]
    assert ranking(("q", "\uffff", 1), ("q", "\U00010000", 1)) == ["\U00010000", "\uffff"]
    assert ranking(("q", "Z", 1), ("q", "a", 1), ("q", "é", 1)) == ["é", "a", "Z"]


def test_scores_equal_in_32_bits_are_tied():
    rows = (("q", "a", 1 + 1e-9), ("q", "b", 1.0), ("q", "c", 0.5))
    run = canonical(hits(*rows), depth=10, drop_self=False)
    assert run.frame["doc_id"].tolist() == ["b", "a", "c"]
    assert run.frame["score"].tolist() == [1.0, 1 + 1e-9, 0.5]
    assert run.tied == 2


def test_equal_scores_of_different_queries_are_no_tie():
    assert canonical(hits(("q", "a", 1), ("r", "a", 1)), depth=10, drop_self=False).tied == 0


def test_self_hits_go_before_the_cut():
    rows = (("q", "q", 3), ("q", "a", 2), ("q", "b", 1))
    assert ranking(*rows, depth=2, drop_self=True) == ["a", "b"]
    assert ranking(*rows, depth=2) == ["q", "a"]
    assert canonical(hits(*rows), depth=2, drop_self=True).self_hits == 1


def test_of_a_document_twice_the_higher_place_stays():
    run = canonical(hits(("q", "a", 1), ("q", "b", 2), ("q", "a", 3)), depth=10, drop_self=False)
    assert rows(run.frame) == [("q", "a", 1, 3.0), ("q", "b", 2, 2.0)]
    assert run.duplicates == 1


def test_ranks_are_32_bit_and_scores_64_bit():
    frame = canonical(hits(*HITS), depth=10, drop_self=False).frame
    assert frame["rank"].dtype == np.int32
    assert frame["score"].dtype == np.float64
    assert frame["query_id"].tolist() == ["01", "q1", "q1"]


def test_no_hits_are_an_empty_run():
    run = canonical(hits(), depth=10, drop_self=True)
    assert list(run.frame.columns) == ["query_id", "doc_id", "rank", "score"]
    assert (len(run.frame), run.duplicates, run.self_hits, run.tied) == (0, 0, 0, 0)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_score_that_is_not_finite_refuses_the_run(score):
    with pytest.raises(WrongInput, match="query 'q', document 'b': the score is"):
        canonical(hits(("q", "a", 1), ("q", "b", score)), depth=10, drop_self=False)


def test_ranking_leaves_the_callers_frame_alone():
    given_hits = hits(*HITS)
    canonical(given_hits, depth=1, drop_self=True)
    pd.testing.assert_frame_equal(given_hits, hits(*HITS))


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        LINES.replace(" ", "\t"),
        LINES.replace(" ", " \t  "),
        LINES.replace("\n", "  \r\n"),
        LINES.removesuffix("\n"),
        "\ufeff" + LINES,
        "# made by hand\n\n" + LINES.replace("\n", "\n\n  # a remark with six words in it\n"),
    ],
    ids=["blanks", "tabs", "runs of blanks", "CRLF", "no last newline", "BOM", "comments"],
)
def test_run_file_is_columns_between_blanks(tmp_path, text):
    tag, found = read_trec(written(tmp_path, text))
    assert tag == "sys"
    assert rows(found) == HITS


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_packed_run_file_is_read_whatever_its_name(tmp_path, kind):
    packed = pa.compress(LINES.encode(), codec=kind, asbytes=True)
    assert rows(read_trec(written(tmp_path, packed))[1]) == HITS


def test_several_gzip_members_are_one_file(tmp_path):
    packed = b"".join(gzip.compress(line.encode()) for line in LINES.splitlines(keepends=True))
    assert rows(read_trec(written(tmp_path, packed))[1]) == HITS


def test_ids_stay_as_they_are_written(tmp_path):
    line = 'q"1 Q0 <dbpedia:"Weird,Al"> 1 1e-3 nan\nNULL Q0 NA 1 -.5 nan\n'
    tag, found = read_trec(written(tmp_path, line))
    assert tag == "nan"
    assert rows(found) == [('q"1', '<dbpedia:"Weird,Al">', 0.001), ("NULL", "NA", -0.5)]


def test_duplicates_and_order_of_the_file_are_kept(tmp_path):
    lines = "q Q0 a 9 1 s\nq Q0 b 1 2 s\nq Q0 a 3 3 s\n"
    assert rows(read_trec(written(tmp_path, lines))[1]) == [
        ("q", "a", 1), ("q", "b", 2), ("q", "a", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("q1 Q0 d3 3 1.0", "5 columns where a run line has 6"),
        ("q1 Q0 d3 3 1.0 my run", "7 columns where a run line has 6"),
        ("q1 Q0 d3 3 high sys", "score is 'high', not a finite number"),
        ("q1 Q0 d3 3 NaN sys", "score is 'NaN', not a finite number"),
        ("q1 Q0 d3 3 inf sys", "score is 'inf', not a finite number"),
        ("q1 Q0 d3 3 -1e999 sys", "score is '-1e999', not a finite number"),
        ("q1 Q0 d3 3 1_0 sys", "score is '1_0', not a finite number"),
        ("{", "1 column where a run line has 6"),
    ],
)
def test_wrong_line_is_named(tmp_path, line, fault):
    file = written(tmp_path, "# a remark\n" + LINES + line + "\n" + LINES)
    with pytest.raises(WrongInput, match=re.escape(f"{file}, line 5: {fault}")):
        read_trec(file)


def test_a_query_whose_id_begins_like_a_comment_is_kept(tmp_path):
    text = "# made by hand\n#qid Q0 docid rank score tag\n#1 Q0 d1 1 2.5 s\nq2 Q0 d2 1 1 s\n"
    assert rows(read_trec(written(tmp_path, text))[1]) == [("#1", "d1", 2.5), ("q2", "d2", 1)]
    with pytest.raises(WrongInput, match="line 1: score is 'nan', not a finite number"):
        read_trec(written(tmp_path, "#1 Q0 d1 1 nan s\n"))


@pytest.mark.long
def test_wrong_line_deep_in_a_long_file_is_named(tmp_path):
    lines = "".join(f"q{n} Q0 document-with-a-long-identifier 1 1.0 sys\n" for n in range(900_000))
    file = written(tmp_path, lines + "q Q0 d 1 one sys\n")
    with pytest.raises(WrongInput, match="line 900001: score is 'one'"):
        read_trec(file)


def test_text_that_is_not_utf8_is_named(tmp_path):
    file = written(tmp_path, LINES.encode() + "q Q0 Füße 1 1.0 sys\n".encode("latin-1"))
    with pytest.raises(WrongInput, match=r"line 4: doc_id .* is not UTF-8 text"):
        read_trec(file)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n", "\ufeff"])
def test_empty_file_is_wrong_input(tmp_path, text):
    with pytest.raises(WrongInput, match="no run line in it"):
        read_trec(written(tmp_path, text))


def test_truncated_file_is_wrong_input(tmp_path):
    packed = gzip.compress(LINES.encode() * 1000)
    with pytest.raises(WrongInput, match="cannot be read"):
        read_trec(written(tmp_path, packed[:-20]))


def test_file_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(Missing, match="does not exist"):
        read_trec(tmp_path / "none.txt")


def test_several_tags_are_several_runs_unless_asked(tmp_path):
    file = written(tmp_path, LINES + "q1 Q0 d3 3 1.0 other\n")
    with pytest.raises(WrongInput, match=r"2 tags \('sys', 'other'"):
        read_trec(file)
    tag, found = read_trec(file, any_tag=True)
    assert (tag, len(found)) == ("sys", 4)
    file = written(tmp_path, LINES + LINES.replace("sys", "other"))
    with pytest.raises(WrongInput, match=r"2 tags .* give each run its own file$"):
        read_trec(file, any_tag=True)


def test_lines_without_a_tag_are_a_run_where_any_tag_will_do(tmp_path):
    file = written(tmp_path, "# by hand\nt1 Q0 a 1 3.0\nt1\tQ0 b 2 2.5\n")
    with pytest.raises(WrongInput, match=r"no tag where a run has one; name .*--system NAME"):
        read_trec(file)
    tag, found = read_trec(file, any_tag=True)
    assert (tag, found["score"].tolist()) == ("", [3.0, 2.5])


@worlds.SOME
@given(worlds.hits().map(worlds.of_32_bits).filter(len))
def test_a_written_run_comes_back_in_the_same_order(tmp_path_factory, hits):
    file = tmp_path_factory.getbasetemp() / "round-trip.txt"
    run = canonical(hits, depth=1000, drop_self=False).frame
    write_trec(run, "sys", file)
    tag, found = read_trec(file)
    assert tag == "sys"
    # The file is in canonical order, also for a reader that compares scores in 64 bits.
    again = found.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
    columns = ["query_id", "doc_id"]
    assert rows(found[columns]) == rows(again[columns]) == rows(run[columns])
    ranked = [(query, doc) for query, docs in worlds.lists(found).items() for doc in docs]
    assert ranked == rows(run[columns])


def test_written_ranks_begin_at_1_and_scores_are_short(tmp_path):
    write_trec(canonical(hits(*HITS), depth=10, drop_self=False).frame, "sys", tmp_path / "run")
    assert (tmp_path / "run").read_text() == (
        "01 Q0 d1 1 3 sys\nq1 Q0 d2 1 2.5 sys\nq1 Q0 d1 2 1.5 sys\n"
    )


def test_frame_put_together_from_pieces_is_written_whole(tmp_path):
    run = canonical(hits(*HITS), depth=10, drop_self=False).frame
    write_trec(pd.concat([run[:1], run[1:]]), "sys", tmp_path / "run")
    assert rows(read_trec(tmp_path / "run")[1]) == [HITS[2], HITS[0], HITS[1]]


def test_name_ending_in_gz_is_packed(tmp_path):
    write_trec(canonical(hits(*HITS), depth=10, drop_self=False).frame, "s", tmp_path / "run.gz")
    assert gzip.decompress((tmp_path / "run.gz").read_bytes()).startswith(b"01 Q0 d1 1 3 s\n")


@pytest.mark.parametrize(("doc_id", "tag"), [("a b", "sys"), ("", "sys"), ("a", "my run")])
def test_what_a_run_file_cannot_carry_is_refused(tmp_path, doc_id, tag):
    run = canonical(hits(("q", doc_id, 1)), depth=10, drop_self=False).frame
    with pytest.raises(WrongInput, match="does not allow"):
        write_trec(run, tag, tmp_path / "run.txt")

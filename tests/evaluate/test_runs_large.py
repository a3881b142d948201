"""Large runs go faster ways than small ones: what comes out is the same."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from compute.base.errors import WrongInput
from compute.evaluate.runs import canonical, ranked
from tests.support.ranked_lists import read_trec

QUERIES, DEEP = 300, 700


def made_up() -> pd.DataFrame:
    """Hits in any order, many of them tied, some of them twice."""
    random = np.random.default_rng(7)
    size = QUERIES * DEEP
    frame = pd.DataFrame(
        {
            "query_id": random.integers(0, QUERIES, size).astype(str),
            "doc_id": random.integers(0, 5 * DEEP, size).astype(str),
            "score": random.integers(-500, 500, size) / 8,
        }
    )
    return frame.astype({"query_id": "str", "doc_id": "str"})


@pytest.mark.long
@pytest.mark.parametrize("in_blocks", [True, False], ids=["by query", "mixed"])
def test_many_hits_are_ranked_as_one_sort_of_all_does(in_blocks: bool) -> None:
    hits = made_up()
    if in_blocks:
        hits = hits.sort_values("query_id", kind="stable", ascending=False)
    once = hits.sort_values("score", ascending=False).drop_duplicates(["query_id", "doc_id"])
    # Digits alone: their order is that of their bytes.
    plain = once.sort_values(["score", "doc_id"], ascending=False)
    plain = plain.sort_values("query_id", kind="stable", ignore_index=True)
    plain["rank"] = plain.groupby("query_id").cumcount() + 1
    plain = plain[plain["rank"] <= 400].reset_index(drop=True)
    run = canonical(hits, depth=400, drop_self=False)
    expected = plain[["query_id", "doc_id", "rank", "score"]].astype({"rank": "int32"})
    pd.testing.assert_frame_equal(run.frame, expected)
    assert run.duplicates == len(hits) - len(once)
    lists = expected.groupby(["query_id", "score"])["rank"].transform("size")
    assert run.tied == int((lists > 1).sum())


@pytest.mark.long
@pytest.mark.parametrize("depth", [10_000, 400, 3], ids=["all", "cut", "cut above the top"])
def test_a_run_in_pieces_or_from_its_top_is_that_of_the_frame(depth: int) -> None:
    hits = made_up()
    frame = canonical(hits, depth=depth, drop_self=False).frame
    run = ranked(pa.Table.from_pandas(hits), depth=depth, drop_self=False)
    for size in (1, 999, len(frame), len(frame) + 1) if depth == 3 else (10_007,):
        pieces = list(run.batches(size))
        assert {piece.num_rows for piece in pieces[:-1]} <= {size}
        pd.testing.assert_frame_equal(pa.Table.from_batches(pieces).to_pandas(), frame)
    top = frame[frame["rank"] <= 10].reset_index(drop=True)
    pd.testing.assert_frame_equal(run.top(10), top)


@pytest.mark.parametrize(
    ("old", "new"),
    [(" ", "\t"), (" ", "  "), ("\n", " \n"), ("\n", "\n "), ("\n", "\r\n"), ("\n", "\n\n")],
    ids=["tabs", "two blanks", "blank at the end", "blank at the start", "Windows", "empty lines"],
)
def test_untidy_lines_read_as_tidy_ones(tmp_path: Path, old: str, new: str) -> None:
    lines = "".join(f"q{n % 7} Q0 d{n} 1 {n / 4} mine\n" for n in range(500))
    file = tmp_path / "run"
    file.write_text(lines, "utf-8", newline="")
    tidy = read_trec(file)
    # The file as a whole, or its last line alone among tidy ones.
    for text in (lines.replace(old, new), lines[:-20] + lines[-20:].replace(old, new)):
        file.write_text(text, "utf-8", newline="")
        tag, found = read_trec(file)
        assert tag == tidy[0] == "mine"
        pd.testing.assert_frame_equal(found, tidy[1])


@pytest.mark.parametrize(
    "line",
    [" Q0 d1 1 2.0 mine", "q1 Q0 d1 1 2.0 ", "q1 Q0 d1  2.0 mine", "q1  d1 1 2.0 mine"],
    ids=["no query", "no tag", "no rank", "no Q0"],
)
def test_an_empty_column_is_a_missing_one(tmp_path: Path, line: str) -> None:
    file = tmp_path / "run"
    file.write_text(f"q1 Q0 d0 1 3.0 mine\n{line}\n", "utf-8")
    with pytest.raises(WrongInput, match="line 2: 5 columns where a run line has 6"):
        read_trec(file)


def test_a_wrong_line_is_named_however_many_blocks_come_before_it(tmp_path: Path) -> None:
    block = "".join(f"q{n} Q0 d{n} 1 2.0 mine\n" for n in range(1000)) * 1000
    file = tmp_path / "run.zst"
    with pa.output_stream(str(file), compression="zstd") as stream:
        stream.write(f"{block}q1 Q0 d1 1 wrong mine\n{block[:100]}".encode())
    with pytest.raises(WrongInput, match=r"run.zst, line 1000001: score is 'wrong'"):
        read_trec(file)

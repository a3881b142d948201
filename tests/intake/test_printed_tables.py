"""Tables of means from elsewhere: what is read, what each mistake is answered with, and the board
that follows."""

import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, WrongInput
from compute.exports.exported import exported
from compute.exports.figures import Figure
from compute.intake import printed_tables
from compute.reading.inputs import papers
from compute.store.loading import Bench
from compute.views.data import select as data_select
from compute.views.leaderboard.page import page
from compute.views.page import Table
from compute.views.page.walk import find
from tests.support import filled
from tests.views import records

WIDE = "Model,SciFact,TREC-COVID,Ours,Avg.\na,.5,.25,.1,.3\nb,.5,-,.2,.4\n"
LONG = """task\tMetric\tScore\tsystem
SciFact\tNDCG@10\t.5\ta
trec_covid\tnDCG@10\t.25\ta
Ours\tndcg_cut_10\t.1\ta
SciFact\tnDCG@10\t.5\tb
Ours\tnDCG@10\t.2\tb
"""
TURNED = "Dataset;a;b\nSciFact;50;50%\nTREC-COVID;25;\nOurs;10;20\nMean;1;1\n"
SCORES = {
    ("scifact", "a", 0.5),
    ("trec-covid", "a", 0.25),
    ("Ours", "a", 0.1),
    ("scifact", "b", 0.5),
    ("Ours", "b", 0.2),
}


def read(
    folder: Path, content: str, measure: str = "nDCG@10", *, percent: bool = False
) -> tuple[set[tuple[str, str, float]], list[str]]:
    file = folder / "table"
    file.write_text(content, "utf-8")
    rows, told = printed_tables.read(file, measure, percent=percent)
    assert set(rows["measure"]) == {"nDCG@10"}
    return {*rows[["of", "printed", "value"]].itertuples(index=False, name=None)}, told


@pytest.mark.parametrize(
    ("content", "measure", "percent"),
    [
        (WIDE, "nDCG@10", False),
        ("\ufeff" + WIDE.replace("\n", "\r\n"), "NDCG@10", False),
        (LONG, "", False),
        (LONG + "SciFact\tAP\t.9\ta\n", "nDCG@10", False),
        (TURNED, "nDCG@10", True),
    ],
    ids=["wide", "from Windows", "long", "one of two measures", "turned, in percent"],
)
def test_each_form_has_the_same_scores(
    tmp_path: Path, content: str, measure: str, percent: bool
) -> None:
    assert read(tmp_path, content, measure, percent=percent)[0] == SCORES


def test_averages_and_empty_cells_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    assert read(tmp_path, WIDE)[1] == [
        "scores read as fractions, 0 to 1",
        "left out: 1 empty cell",
        "left out, since it is an average: Avg.",
        "unknown here, shown by name: Ours",
    ]
    assert read(tmp_path, TURNED, percent=True)[1][0] == "scores read as percent, divided by 100"


def of_mteb(scores: dict[str, list[float]], name: str = "FiQA2018") -> str:
    """Results of a model by split: a score for each subset."""
    splits = {
        split: [{"hf_subset": str(n), "ndcg_at_10": one} for n, one in enumerate(of)]
        for split, of in scores.items()
    }
    tasks = [{"task_name": name, "scores": splits}]
    tasks += [{"task_name": "Banking77", "scores": {"test": [{"accuracy": 0.7}]}}]
    return json.dumps({"model_results": [{"model_name": "org/m", "task_results": tasks}]})


def test_a_task_of_mteb_has_the_mean_over_its_subsets(tmp_path: Path) -> None:
    rows = read(tmp_path, of_mteb({"test": [0.2, 0.4], "train": [1]}))[0]
    assert {(of, by, round(value, 9)) for of, by, value in rows} == {("fiqa", "org/m", 0.3)}
    split = read(tmp_path, of_mteb({"dev": [0.25]}, "QuoraRetrieval"))[0]
    assert split == {("QuoraRetrieval (dev)", "org/m", 0.25)}


@pytest.mark.parametrize(
    ("content", "measure", "percent", "said"),
    [
        (WIDE.replace(".25", "2,5"), "nDCG@10", False, r"line 2: not as many columns"),
        (WIDE.replace(".25", "0_1"), "nDCG@10", False, r"column TREC-COVID: '0_1' is not a number"),
        ('[{"model_name": {}, "task_results": []}]', "nDCG@10", False, "not MTEB's results"),
        (WIDE.replace(".25", "o.5"), "nDCG@10", False, r"line 2, column TREC-COVID: 'o.5' is not"),
        (WIDE.replace(".25", "25.0"), "nDCG@10", False, r"'25.0' is not .* 1: .* add --percent"),
        (WIDE.replace(".25", "-1"), "nDCG@10", False, r"'-1' is not between 0 and 1: fix the cell"),
        (WIDE.replace(".25", "inf"), "nDCG@10", False, r"'inf' is not between 0 and 1: fix"),
        (WIDE.replace(".25", "101"), "nDCG@10", True, r"'101' is not between 0 and 100: fix"),
        (WIDE, "nDCG@10", True, r"no score is above 1%: leave out --percent"),
        (WIDE, "", False, r"line 2: no column names the measure: give --measure"),
        (WIDE, "nope", False, r"no measure 'nope': give --measure, such as nDCG@10"),
        (LONG.replace("NDCG@10", "nope"), "", False, r"line 2: no measure 'nope'"),
        (WIDE + "a,.5,,,\n", "nDCG@10", False, r"line 4, column SciFact: 'a' has another nDCG@10"),
        (WIDE.replace("Ours", "SciFact"), "nDCG@10", False, r"two columns are named SciFact"),
        (WIDE.partition("\n")[2], "nDCG@10", False, r"line 2, column .5: 'b' on '.5' has no name"),
        ("Model,SciFact\n", "nDCG@10", False, r"contains no score: give a table"),
        ("", "nDCG@10", False, r"contains no score: give a table"),
        (
            '{"a": 1}',
            "nDCG@10",
            False,
            r"JSON, but not MTEB's results .*and task_results",
        ),
        ('{"a": ', "nDCG@10", False, r"begins like JSON but is not valid JSON: .*line 1"),
        (of_mteb({"test": [0.2]}), "", False, r"no column names the measure"),
    ],
)
def test_each_mistake_has_a_sentence_with_its_place(
    tmp_path: Path, content: str, measure: str, percent: bool, said: str
) -> None:
    with pytest.raises(WrongInput, match=said):
        read(tmp_path, content, measure, percent=percent)


def take(bench: Bench, content: str, name: str, *, replace: bool = False) -> bool:
    file = bench.settings.home / "table.csv"
    file.write_text(content, "utf-8")
    how = {"percent": False, "replace": replace}
    return printed_tables.import_file(bench, file, name, "nDCG@10", **how)[2]


def test_a_table_is_replaced_only_when_that_is_said(bench: Bench) -> None:
    assert take(bench, WIDE, "X") and not take(bench, WIDE, "X")
    with pytest.raises(Conflict, match="X is another table already"):
        take(bench, WIDE.replace(".25", ".26"), "X")
    assert take(bench, WIDE.replace(".25", ".26"), "X", replace=True)
    with pytest.raises(WrongInput, match="is not a valid name"):
        take(bench, WIDE, "a\nb")


def table(n: int) -> str:
    """Systems a, b and c on n datasets, of which MSMARCO and one of ours are known."""
    names = ["msmarco", "SciFact", *(f"new{place}" for place in range(n - 2))]
    rows = [["system", *names]]
    for system, better in (("a", 0.1), ("b", 0), ("c", 0.0004)):
        rows.append([system, *(f"{0.3 + n / 100 + better:.3f}" for n in range(len(names)))])
    return "\n".join(map(",".join, rows)) + "\n"


def test_its_board_has_all_its_datasets_tie_groups_and_its_name_in_files(
    bench: Bench,
) -> None:
    name = filled.HOSTILE
    take(bench, table(12), name)
    source = f"Printed: {name}"
    shown = records.shown(page, bench.settings.home, table=source, view="Table")
    assert {"board", "order", "wins", "aggregates"} <= {*shown.keys}
    with records.asked(bench.settings.home) as ask:
        found = exported("leaderboard", find(page, ask, "order", numbers="Published", table=source))
        assert isinstance(found, Figure) and found.about.endswith(f"datasets · {source}")
        board = find(page, ask, "board", numbers="Published", table=source, view="Table")
        made = exported("leaderboard", board)
        assert isinstance(made, Table) and made.caption.endswith(
            f"by system and dataset ({source})"
        )
    rows = shown.table("board").rows.set_index("system")
    assert rows["n_datasets"].tolist() == [12] * 3
    groups = dict(zip(rows.index, rows["group"], strict=True))
    assert groups["b"] == groups["c"] != groups["a"]
    assert "a is significantly better than all others" in shown.words
    heat = records.shown(page, bench.settings.home, table=source)
    assert f"{source}: nDCG@10, 12 datasets, 3 systems." in heat.words
    assert "Average over 12 datasets that all systems have." in heat.words


def test_a_system_without_a_score_is_left_out_of_the_ranking_and_named(bench: Bench) -> None:
    take(bench, table(12) + "d,.9" + "," * 11 + "\n", "gap")
    shown = records.shown(page, bench.settings.home, table="Printed: gap", view="Table")
    rows = shown.table("board").rows.set_index("system")
    assert rows["n_datasets"].to_dict() == {"a": 12, "b": 12, "c": 12, "d": 1}
    assert rows["rank"].notna().to_dict() == {"a": True, "b": True, "c": True, "d": False}
    assert "Not ranked: d (lacks a score)." in shown.words


def test_few_datasets_allow_no_test_and_that_is_said(bench: Bench) -> None:
    take(bench, table(9), "few")
    shown = records.shown(page, bench.settings.home, table="Printed: few")
    assert "a test over datasets needs 10 datasets, and there are 9" in shown.words


@pytest.mark.long
def test_the_command_imports_and_remove_removes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.take(bench)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    file = bench.settings.home / "table.csv"
    file.write_text(WIDE, "utf-8")
    words = ["import-table", str(file), "--name", "MTEB, 2026-05", "--measure", "nDCG@10"]
    assert main(words) == 0
    source = "Printed: MTEB, 2026-05"
    assert f"{source}: 5 scores\n" in capsys.readouterr().out
    (part,) = bench.store.parts("printed")
    assert (part.provenance["file"], len(part.provenance["sha256"])) == ("table.csv", 64)
    date = part.provenance["date"][:10]
    cited = f"MTEB, 2026-05 (imported from table.csv on {date})"
    assert papers(bench.store.parts())[source] == cited
    with records.asked(bench.settings.home) as ask:
        assert ask(data_select.printed)["Table"].tolist() == [source]
    assert main(["scores", "--published", "--dataset", "Ours"]) == 0
    assert cited in capsys.readouterr().out
    assert main(["remove", source, "--yes"]) == 0
    assert "removed 5 printed scores" in capsys.readouterr().out
    assert not bench.store.parts("printed") and bench.store.parts("hits")

"""What `gate` says: to people, in Markdown, as JSON and as JUnit's XML."""

import json
from pathlib import Path
from xml.etree import ElementTree

import markdown_it
import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.non_inferiority import COLUMNS, decide
from compute.exports import verdicts
from compute.exports.verdicts import Report
from tests.support.tiny import HOSTILE

STEADY = np.array([0.01, -0.01] * 10)


def report(*losses: float, n: int = 20, candidate: str = "new.run", **more: float) -> Report:
    """A group for each loss, d1 and on."""
    groups = {}
    for number, loss in enumerate(losses, 1):
        rows = {"part": "d", "baseline": 0.5, "candidate": 0.5 - loss + STEADY[:n]}
        absent = dict.fromkeys(COLUMNS[3:], np.nan)
        groups[f"d{number}"] = DataFrame(rows | absent | more)
    found = decide(groups, 0.01)
    return Report("nDCG@10", 0.01, "old.run", candidate, found, ["new.run on d1: a remark"])


def test_a_headline_names_what_the_verdict_rests_on() -> None:
    assert verdicts.headline(report(0, 0)) == (
        "nDCG@10: new.run is no worse than old.run by 0.01 or more, on d1; d2:"
        " equivalent within the margin"
    )
    assert "equivalent" not in verdicts.headline(report(0, -0.02)), "d2 gains more than the margin"
    worse = verdicts.headline(report(0.1, 0, 0.2))
    assert worse.startswith(
        "nDCG@10: new.run is worse than old.run by more than 0.01 on d1 (interval -0.1048 to"
    )
    assert "by Holm's method); d3 (" in worse and "d2" not in worse
    open_ = verdicts.headline(report(0, 0.012))
    assert (
        "too little evidence whether new.run is worse than old.run by more than 0.01 on d2 ("
        in open_
    )
    assert open_.endswith("; 20 queries, 11 needed)")
    assert "Holm" not in verdicts.headline(report(0.1)), "one dataset needs no correction"
    assert (
        "with 20 queries like those of d2, two equally good" in verdicts.notes(report(0, 0.012))[-2]
    )


@pytest.mark.parametrize(("losses", "status"), [((0, 0), 0), ((0.1, 0), 3), ((0.01, 0), 4)])
def test_each_verdict_has_its_status(losses: tuple[float, ...], status: int) -> None:
    assert report(*losses).status == status


def test_a_table_of_words() -> None:
    known = report(0.1, least=-0.5, most=0.4, holes_baseline=0.25, holes_candidate=0.5)
    (row,) = verdicts.table(known).to_dict("records")
    assert row == {
        "dataset": "d1",
        "queries": "20",
        "baseline": "0.5000",
        "candidate": "0.4000",
        "difference": "-0.1000",
        "95% CI": "-0.1048 to -0.0952",
        "verdict": "worse",
        "queries needed": "11",
        "unjudged": "0.2500, 0.5000",
        "possible range": "-0.5000 to 0.4000",
        "verdict there": "worse to no worse",
    }
    (row,) = verdicts.table(report(0)).to_dict("records")
    assert (row["difference"], row["unjudged"], row["verdict there"]) == ("0.0000", "–", "–")


@pytest.mark.parametrize(
    ("beyond", "end", "verdict"),
    [(4e-6, "-0.010004", ""), (-4e-6, "-0.009996", "no worse"), (0.001, "-0.0110", "")],
)
def test_an_end_is_never_rounded_onto_the_margin(beyond: float, end: str, verdict: str) -> None:
    low = report(0).found["low"].item()
    (row,) = verdicts.table(report(0.01 + low + beyond)).to_dict("records")
    assert row["95% CI"].startswith(f"{end} to ")
    assert row["verdict"].partition(",")[0] == (verdict or "too little evidence")


def test_json_has_all_and_null_for_what_is_absent() -> None:
    whole = json.loads(verdicts.record(report(0.1)))
    assert (whole["verdict"], whole["status"], whole["margin"]) == ("worse", 3, 0.01)
    (group,) = whole["groups"]
    assert group["group"] == "d1" and group["difference"] == pytest.approx(-0.1)
    assert group["least"] is group["at_least"] is group["holes_baseline"] is None
    assert whole["remarks"] == ["new.run on d1: a remark"]
    assert whole["said"] == verdicts.headline(report(0.1)) and not whole["equivalent"]
    kept = json.loads(verdicts.record(report(0)))
    assert (kept["verdict"], kept["equivalent"]) == ("not worse", True)


def test_markdown_is_a_table_and_shows_names_letter_by_letter() -> None:
    text = verdicts.markdown(report(0, 0.1, candidate=f"{HOSTILE} | @all\n# x"))
    assert text.startswith("### Retrieval gate: worse\n")
    parser = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    html = parser.render(text)
    assert html.count("<tr>") == 3 and html.count("<h3>") == html.count("<h") == 1
    assert "<script" not in html and "<a " not in html and "<em>" not in html


def test_junit_has_a_case_for_each_group() -> None:
    root = ElementTree.fromstring(verdicts.junit(report(0, 0.1, 0.01, candidate="a<&")))
    assert (root.get("tests"), root.get("failures")) == ("3", "2")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert cases["d1"].find("failure") is None
    kinds = [failure.get("type") for failure in root.iter("failure")]
    assert kinds == ["worse", "undecided"]
    assert all("interval" in str(failure.get("message")) for failure in root.iter("failure"))
    assert "a<&" in str(root.findtext("system-out"))


def test_little_to_go_by_is_told() -> None:
    def told(differing: int, n: int, margin: float = 0.01) -> str:
        gaps = np.zeros(n)
        gaps[:differing] = 0.001
        rows = {"part": "d", "baseline": 0.5, "candidate": 0.5 + gaps}
        group = DataFrame(rows | dict.fromkeys(COLUMNS[3:], np.nan))
        found = decide({"d": group}, margin)
        return "\n".join(verdicts.notes(Report("P@5", margin, "a", "b", found)))

    lost = "; a total loss on 0.01 of all queries would not appear among 50 in 61% of cases"
    assert f"no query of d differs{lost}" in told(0, 50)
    assert f"1 of 50 queries of d differs{lost}" in told(1, 50)
    assert told(5, 400).endswith("5 of 400 queries of d differ")
    assert "differ" not in told(6, 50).replace("difference", "")
    assert "d has 1 query with a value for both: no interval" in told(1, 1)


def test_runs_that_vary_leave_the_number_of_queries_open() -> None:
    found = report(0, 0.012).found
    varied = found.assign(queries_needed=None, verdict="undecided", n=300, differing=100)
    told = verdicts.notes(Report("nDCG@10", 0.01, "a", "b", varied))
    assert not any("equally good systems pass" in line for line in told)


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    verdicts.write(b"x", tmp_path / "gate.xml")
    assert (tmp_path / "gate.xml").read_bytes() == b"x"
    with pytest.raises(WrongInput, match="cannot be written \\(No such file or directory\\)"):
        verdicts.write(b"x", tmp_path / "none" / "gate.xml")

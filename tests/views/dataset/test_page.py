"""The Dataset page asked on a store: its views, what is said where something is absent, clicks."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compute import systems
from compute.evaluate.measures import MEASURES
from compute.intake import imports, query_labels
from compute.recompute import run
from compute.store.own_datasets import own_datasets
from compute.store.run_versions import Version
from compute.views.compare.page import page as compare_page
from compute.views.dataset.page import page
from compute.views.page import Ask, Button, Figure, Link, Message, Note, Passage, Text
from compute.views.page import find as found_part
from compute.views.page import parts as every_part
from compute.views.page.store_ask import opened
from tests.support import filled
from tests.support.filled import HOSTILE, RUNS


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Tiny with two runs, one of which has a version, and labels; the same in "Polish", where no
    paper has either; one whose queries changed after its run; one of four systems."""
    bench = filled.bench(folder := tmp_path_factory.mktemp("dataset"))
    for name in ("tiny", "tiny-pl", "anew"):
        filled.take(bench, RUNS, name)
    tiny, better = own_datasets(bench.store)["tiny"], {"plain": RUNS["plain"].replace("3.0", "1.0")}
    filled.add(bench, tiny, better, version=Version("new", HOSTILE))
    (folder / "labels").write_text(f"q1\t{HOSTILE}\t{HOSTILE}\nq2\t{HOSTILE}\tland\n", "utf-8")
    query_labels.import_file(bench, folder / "labels", tiny)
    queries = folder / "anew" / "queries.jsonl"
    queries.write_text(queries.read_text("utf-8").replace("ships", "boats"), "utf-8")
    imports.import_dataset(bench, "anew", path=folder / "anew", replace=True)
    filled.take(bench, {}, "bare")
    filled.take_twelve(bench)
    with opened(bench.store) as ask:
        yield ask


def test_a_view_without_runs_rests_on_its_dataset(ask: Any) -> None:
    rested: set[str] = set()
    heard = replace(ask, heard=lambda _, found: rested.update(found.datasets))
    every_part(page, heard, dataset="bioasq", show="Judgements")
    assert rested == {"bioasq"}


def parts(ask: Ask, **chosen: Any) -> list[Any]:
    return every_part(page, ask, **chosen)


def find(ask: Ask, key: str, **chosen: Any) -> Any:
    return found_part(page, ask, key, **chosen).part


def said(shown: list[Any]) -> str:
    """All sentences of a page."""
    notes = [f"{one.shown} {one.behind()}" for one in shown if isinstance(one, Note)]
    found = [one.finding for one in shown if isinstance(one, Figure)]
    texts = [one.text for one in shown if isinstance(one, Message | Text)]
    return " ".join([*notes, *found, *texts])


def links(shown: list[Any]) -> dict[str, Link]:
    return {one.label: one.opens for one in shown if isinstance(one, Button)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("Systems", "Systems with overlapping intervals can still differ significantly"),
        ("Queries", "All systems score 0 on 0 of 3 queries"),
        ("Judgements", "5 judgements of 3 queries"),
        ("Documents", "Type all or part of a document id, such as d"),
        ("Kinds of queries", "Add your own labels with python -m compute import-labels."),
    ],
)
def test_every_view_opens_from_its_address(ask: Ask, view: str, words: str) -> None:
    assert words in said(parts(ask, dataset="tiny", show=view, measure="RR@10"))


def test_a_dataset_shows_statistics_systems_and_an_example(ask: Ask) -> None:
    address = {"dataset": "tiny", "show": "Overview"}
    statistics = find(ask, "statistics", **address).rows.set_index("Statistic")
    assert statistics.loc["Documents", "Here"] == "6"
    systems = find(ask, "systems", **address)
    assert sorted(systems.shown["System"]) == sorted(RUNS)
    assert systems.shown["Unanswered"].tolist() == [0, 1]
    ((first,), _) = systems.carried
    assert systems.opens.of([first]) == {"system": "plain", "show": "Runs", "dataset": "tiny"}
    query, document = [one for one in parts(ask, **address) if isinstance(one, Passage)]
    assert query.title and "Ships" in document.text


def test_the_best_system_is_drawn_first_also_where_less_is_better(ask: Ask) -> None:
    for measure in ("RR@10", "Hole@10"):
        address = {"dataset": "tiny-pl", "measure": measure, "show": "Overview"}
        part = find(ask, "spread", **address)
        assert part.drawn(theme="light").layout.yaxis.ticktext[0] == "plain", measure


@pytest.mark.long
def test_every_measure_draws(ask: Ask) -> None:
    for measure in MEASURES:
        figures = [one for one in parts(ask, dataset="own", measure=measure) if _drawn(one)]
        assert [one.key for one in figures] == ["standing"], measure


def _drawn(part: Any) -> bool:
    return isinstance(part, Figure) and bool(part.drawn(theme="light").data)


@pytest.mark.long
@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        ("fever", "Nothing has been computed on FEVER yet: python -m compute fetch fever"),
        ("bioasq", "its documents cannot be downloaded"),
        ("nq-dpr", "has only published figures"),
        ("bare", "yet: start systems on the Jobs page, or python -m compute run bm25 bare."),
        ("cqadupstack-pl", "python -m compute run bm25 cqadupstack-pl"),
    ],
)
def test_a_dataset_without_runs_says_what_computes_one(ask: Ask, dataset: str, words: str) -> None:
    assert words in said(parts(ask, dataset=dataset))
    for view in ("Systems", "Queries"):
        assert "has nDCG@10 yet." in said(parts(ask, dataset=dataset, show=view))


def test_runs_of_a_dataset_imported_anew_are_named_and_lead_to_jobs(ask: Ask) -> None:
    shown = parts(ask, dataset="anew")
    assert f"{HOSTILE}, plain: left out because the data of anew were replaced" in said(shown)
    assert links(shown)["Compute it"].of() == {"datasets": "anew", "systems": [HOSTILE, "plain"]}


def test_the_forums_of_the_polish_cqadupstack_are_shown_as_printed(ask: Ask) -> None:
    part = find(ask, "parts", dataset="cqadupstack-pl")
    shown = part.drawn(theme="light").layout.yaxis.ticktext
    assert sum("CQADupStack-PL: " in name for name in shown) == 12


def test_the_verdict_and_the_first_two_stand_above_the_figure(ask: Ask) -> None:
    shown = parts(ask, dataset="own", measure="RR@10", show="Systems")
    differ = "As a single comparison, a and b differ (p = .03); corrected for 6 pairs, p = .06."
    texts = [one.text for one in shown if isinstance(one, Text)]
    assert differ == texts[-1]
    assert re.search(
        r"With 12 queries, the test of a against d has 80% power only .* about \.\d{3}",
        texts[1],
    )
    two = {"dataset": "own", "measure": "RR@10", "a": "a", "b": "b"}
    assert links(shown)["Compare the top two"] == Link("compare", two)
    keys = [getattr(one, "key", "") for one in shown]
    assert shown.index(Text(differ)) < keys.index("standing")


@pytest.mark.long
def test_a_fusion_tuned_on_these_queries_is_not_crowned(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    filled.take_twelve(bench)
    own = own_datasets(bench.store)["own"]
    tuned = systems.system("rrf(a,c,k=1,tuned=own)")
    run.run(bench, tuned, own)
    with opened(bench.store) as ask:
        shown = parts(ask, dataset="own", measure="RR@10", show="Systems")
        compared = every_part(compare_page, ask, dataset="own", measure="RR@10", a="a", b="b")
    first = next(one.text for one in shown if isinstance(one, Text))
    assert first.startswith("a ranks first") and "over these 4 systems" in first
    assert first.endswith(f" {tuned.title} (on these queries); not compared.")
    assert "Corrected for all 6 pairs of systems on this dataset (" in said(compared)


def test_a_click_compares_a_system_with_the_baseline_and_the_baseline_with_the_best(
    ask: Ask,
) -> None:
    part = find(ask, "standing", dataset="own", measure="RR@10", against="a")
    assert [part.opens(name).names["b"] for name in "ab"] == ["b", "a"]
    notes = part.drawn(theme="light", narrow=True).layout.annotations
    assert [note.text for note in notes][-1] == "Hole@10" and len(notes) == 5


def test_the_clicked_system_is_one_of_the_two_compared_and_query_starts_with_it(
    ask: Ask,
) -> None:
    shown = links(parts(ask, dataset="own", system="d"))
    assert shown["Compare the clicked system"].names["a"] == "d"
    assert shown["Ranked lists per query"].names["systems"] == ["d", "a"]
    assert not links(parts(ask, dataset="own"))["Ranked lists per query"].names["systems"]


def test_a_system_has_its_versions_which_are_read_for_them_alone(ask: Ask) -> None:
    rows = find(ask, "versions_table", dataset="tiny", measure="RR@10", against=HOSTILE).shown
    assert rows[["Version", "Note", "RR@10"]].to_numpy().tolist() == [
        ["new", HOSTILE, pytest.approx(5 / 6)],
        ["1", "", 1.0],
    ]
    systems = find(ask, "systems", dataset="tiny", show="Overview").shown["System"]
    assert sorted(systems) == sorted(RUNS)


def test_queries_of_a_kind_open_with_their_best_and_worst_system(ask: Ask) -> None:
    address = {"dataset": "tiny-pl", "measure": "RR@10", "show": "Queries"}
    part = find(ask, "kinds", kind="single best system", **address)
    assert part.carried[0] == ["tiny-pl", "q3"]
    assert part.opens("tiny-pl", "q3").names["systems"] == ["plain", HOSTILE]
    assert "No query is in this group." in said(parts(ask, kind="all fail", **address))
    assert "this one measures judging, not how hard a query is" in said(
        parts(ask, **address | {"measure": "Hole@10"})
    )


def test_a_document_is_searched_by_its_id(ask: Ask) -> None:
    address = {"dataset": "tiny", "show": "Documents"}
    assert "d4 is ranked or judged for 1 query" in said(parts(ask, doc="d4", **address))
    assert find(ask, "places", doc="d4", **address).shown["Judgement"].isna().tolist() == [True]
    assert "No system retrieves *d*" in said(parts(ask, doc="*d*", **address))
    assert "Ids that contain this text: d1, d2" in said(parts(ask, doc="d", **address))


def test_a_dataset_in_two_languages_shows_what_is_printed(ask: Ask) -> None:
    for name in ("scifact", "scifact-pl"):
        rows = find(ask, "languages", dataset=name, show="Two languages").shown.set_index("System")
        row = rows.loc["BM25 (Elasticsearch)"]
        assert row["English, published"] == 0.691 and row["Polish, published"] == 0.625
        assert row["Polish − English, published"] == pytest.approx(-0.066)
        part = find(ask, "translation", dataset=name, show="Two languages")
        bold = part.shown[[any(row) for row in part.bold]]["Part"].tolist()
        assert bold == ["scifact-pl queries"]


def test_two_own_collections_in_two_languages_have_no_printed_sizes(ask: Ask) -> None:
    for name in ("tiny", "tiny-pl"):
        sizes = find(ask, "sizes", dataset=name, show="Two languages").rows
        assert list(sizes) == ["Statistic", "English, here", "Polish, here"]


def test_kinds_of_queries_by_labels_of_ones_own(ask: Ask) -> None:
    address = {"dataset": "tiny", "show": "Kinds of queries"}
    part = find(ask, "by_kind", slice=HOSTILE, **address)
    assert part.title.endswith(f"by {HOSTILE}")
    assert HOSTILE not in part.drawn(theme="light").to_json().split('"customdata"')[0]
    assert "they are only descriptive" in said(parts(ask, slice="answered", **address))


def test_the_facts_of_a_dataset_stand_on_one_line_and_its_note_behind(ask: Ask) -> None:
    note = next(one for one in parts(ask, dataset="msmarco-pl/test") if isinstance(one, Note))
    assert "relevant: grade 2 or more, as AP(rel=2)@100" in note.shown
    assert "The table lists the 6,980 queries of dev" in f"{note.shown} {note.behind()}"

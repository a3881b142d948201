"""A machine judges: against a server that is slow, failing, talkative or hostile."""

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.errors import BeirscopeError, Conflict, Missing, Unavailable, WrongInput
from compute.intake import imports, machine_judging
from compute.judgements import orders
from compute.judgements.asking import journal
from compute.judgements.asking.journal import INTERRUPTED
from compute.judgements.machine_grades import KIND
from compute.judgements.tasks import tasks
from compute.recompute.run import read
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.page import Note, parts
from compute.views.page.store_ask import opened
from compute.views.query.page import page
from tests.support.judged_by_machine import HOSTILE, KEY, allowed, collection, home, planned
from tests.support.processes.machine import Answer, Asked, Machine, grade, machine
from tests.support.tiny import QUERIES

SHIPS = [f"ship number {number}" for number in range(12)]
SOON = {"Retry-After": "0.01"}


@pytest.fixture
def server():
    with machine() as found:
        yield found


def judged(bench: Bench, **more: object) -> dict[str, int]:
    """The grades of a judging by document."""
    taken = machine_judging.judge(bench, planned(bench, **more))
    rows = read(taken.part)
    assert set(rows["query_id"]) == {"q1"}
    return dict(zip(rows["doc_id"], rows["relevance"], strict=True))


def test_each_unjudged_document_is_asked_for_once_and_alone(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    found = judged(bench)
    # d1 is judged officially. Of `ships in the harbour` d4 has two words, the others none.
    assert found == {"d4": 2} | {f"e{number}": 0 for number in range(1, 13)}
    assert len(server.asked) == 13
    assert set(server.counts.values()) == {1}
    for asked in server.asked:
        others = {text for text in SHIPS if text != asked.document}
        assert not any(f"\n{text}\n" in asked.content for text in others)
        assert (asked.body["temperature"], asked.body["model"]) == (0, "m")
        assert asked.key == f"Bearer {KEY}"
    part = bench.store.part(KIND, "tiny", "gpt")
    assert part is not None
    about = part.provenance
    assert (about["form"], about["model"], about["requests"]) == ("judge", "m", 13)
    assert about["prompt"].startswith("1-")
    assert set(journal.asked(bench.store, "tiny", "gpt")["prompt"]) == {about["prompt"]}


def test_a_narrative_is_told_and_makes_other_grades(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    judged(bench)
    before = {asked.content for asked in server.asked}
    source = collection(tmp_path / "again", SHIPS)
    told = [json.dumps(query | {"narrative": "No {boats}."}) for query in QUERIES]
    (source / "queries.jsonl").write_text("\n".join(told), "utf-8")
    imports.import_dataset(bench, "tiny", path=source)
    with pytest.raises(Conflict, match="gpt already has grades"):
        judged(bench)
    server.asked.clear()
    assert len(judged(bench, machine="told")) == 13
    after = {asked.content for asked in server.asked}
    narrative = "\n\nNarrative: No {boats}."
    assert all(narrative in content for content in after)
    assert {content.replace(narrative, "") for content in after} == before


def test_without_consent_no_request_is_made(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS)
    with pytest.raises(Conflict, match="no text of tiny may be sent to http://127"):
        machine_judging.judge(bench, planned(bench))
    journal.allow(bench.store, "tiny", "http://elsewhere/v1", "ada")
    journal.allow(bench.store, "other", planned(bench).address, "ada")
    with pytest.raises(Conflict, match="no text of tiny"):
        machine_judging.judge(bench, planned(bench))
    assert server.asked == []


def test_a_consent_that_is_taken_back_ends_a_judging(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=1)
    allowed(bench)

    def answers(asked: Asked, _: int) -> Answer:
        if len(server.asked) == 3:
            journal.forbid(Store(bench.settings), "tiny")
        return grade(asked)

    server.answers = answers
    with pytest.raises(Conflict, match="no text of tiny may be sent to"):
        machine_judging.judge(bench, planned(bench))
    assert len(server.asked) == 3
    assert len(stored(bench)) == 3


def stored(bench: Bench) -> DataFrame:
    part = bench.store.part(KIND, "tiny", "gpt")
    return DataFrame() if part is None else read(part)


@pytest.mark.long
def test_a_hostile_document_changes_no_other_grade(tmp_path: Path, server: Machine) -> None:
    """The machine obeys it, and answers a grade that there is."""
    calm = home(tmp_path / "calm", server, *SHIPS)
    evil = home(tmp_path / "evil", server, HOSTILE.replace("3", "1"), *SHIPS[1:])
    worse = home(tmp_path / "worse", server, HOSTILE, *SHIPS[1:])
    for bench in (calm, evil, worse):
        allowed(bench)
    expected = judged(calm)
    assert judged(evil) == expected | {"e1": 1}
    # The grades of tiny end at 2: what is none of them is no grade.
    assert judged(worse) == {name: one for name, one in expected.items() if name != "e1"}


def test_talk_is_asked_once_more_and_then_no_grade(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)

    def answers(asked: Asked, before: int) -> Answer:
        if asked.document == SHIPS[0]:
            return Answer("Sure! I think 2 because it is about ships.")
        if asked.document == SHIPS[1] and not before:
            return Answer("It says ships twice.")
        return grade(asked)

    server.answers = answers
    assert "e1" not in (found := judged(bench))
    assert found["e2"] == 0
    assert server.counts["ships in the harbour", SHIPS[0]] == 2
    again = [one for one in server.asked if one.document == SHIPS[0]]
    assert "without any other word" in again[1].content
    assert "Sure!" not in again[1].content
    said = machine_judging.said(bench.store, planned(bench), bench.job)
    assert said == "15 requests, 1,500 tokens; 1 without a grade: its answer was not a grade"
    # What gave no grade is asked again on demand alone.
    later = replace(bench, job="judge-000000000001")
    server.answers = grade
    machine_judging.judge(later, planned(bench))
    assert len(server.asked) == 15
    machine_judging.judge(later, planned(bench), again=True)
    assert len(server.asked) == 16
    assert len(stored(bench)) == 13


@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [
        Answer(status=429, headers=SOON),
        Answer(status=500, headers=SOON),
        Answer(status=503, headers=SOON, body=b"<html>"),
        Answer(drop=True),
    ],
)
def test_what_fails_and_then_works_is_asked_again(
    tmp_path: Path, server: Machine, fault: Answer
) -> None:
    bench = home(tmp_path, server, *SHIPS[:2])
    allowed(bench)
    server.answers = lambda asked, before: grade(asked) if before else fault
    assert len(judged(bench)) == 3
    assert set(server.counts.values()) == {2}


@pytest.mark.long
def test_a_server_too_slow_is_asked_again(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, judge_seconds=1)
    allowed(bench)
    server.answers = lambda asked, before: replace(grade(asked), seconds=0 if before else 30)
    assert judged(bench) == {"d4": 2}
    # Nobody knows what the unanswered one took: it counts as the most that it can.
    assert journal.spent(bench.store, bench.job).tokens > 500


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Answer(status=500, headers=SOON), r"failed 5 times in a row \(status 500\)"),
        (Answer(status=401), "does not accept the key: fix judge_key"),
        (Answer(status=404), "has no such model or path"),
        (Answer(status=307, headers={"Location": "/v1/other"}), "to which no text is sent"),
        (Answer(body=b"<html>hello</html>"), "not as OpenAI's chat interface does"),
        (Answer(body=b"[]"), "not as OpenAI's chat interface does"),
        (Answer(body=b'{"choices": []}'), "not as OpenAI's chat interface does"),
    ],
)
def test_what_never_works_ends_the_judging_in_one_sentence(
    tmp_path: Path, server: Machine, fault: Answer, said: str
) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=1)
    allowed(bench)
    server.answers = lambda asked, _: grade(asked) if len(server.asked) < 4 else fault
    with pytest.raises(Unavailable, match=said) as error:
        machine_judging.judge(bench, planned(bench))
    assert "the grades so far are kept" in str(error.value)
    assert len(stored(bench)) == 3
    server.answers = grade
    assert len(judged(bench)) == 13


def test_a_machine_that_never_grades_is_not_asked_on(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *(f"ship {number}" for number in range(40)))
    allowed(bench)
    server.answers = lambda *_: Answer(status=400)
    with pytest.raises(Unavailable, match="none of the first 10 answers was a grade"):
        machine_judging.judge(bench, planned(bench))
    assert 10 <= len(server.asked) < 10 + bench.settings.judge_at_once
    assert "refused with status 400" in machine_judging.said(bench.store, planned(bench), bench.job)
    # Another model, which takes the requests, is asked for all of them.
    server.answers = grade
    mended = replace(bench, settings=replace(bench.settings, judge_model="n"))
    taken = machine_judging.judge(mended, planned(mended))
    assert (taken.part.rows, taken.n_failed) == (41, 0)


@pytest.mark.parametrize("at_once", [1, 4])
def test_the_limit_of_requests_holds(tmp_path: Path, server: Machine, at_once: int) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=at_once)
    allowed(bench)
    # Requests that failed count, too.
    server.answers = lambda asked, before: (
        grade(asked) if before or asked.document != SHIPS[0] else Answer(status=500, headers=SOON)
    )
    with pytest.raises(Unavailable, match="stopped at the limit of 5 requests; the grades so far"):
        machine_judging.judge(bench, planned(bench, requests=5))
    assert len(server.asked) == 5
    assert len(stored(bench)) == 4
    # Another start has a limit of its own, and goes on with the rest.
    machine_judging.judge(replace(bench, job="judge-000000000001"), planned(bench, requests=10))
    assert len(stored(bench)) == 13
    assert len(server.asked) == 14


@pytest.mark.parametrize("usage", [True, False])
def test_the_limit_of_tokens_holds(tmp_path: Path, server: Machine, usage: bool) -> None:
    texts = (f"ship {number}" for number in range(60))
    bench = home(tmp_path, server, *texts, judge_at_once=1 if usage else 4)
    allowed(bench)
    server.answers = lambda asked, _: replace(grade(asked), usage=usage)
    with pytest.raises(Unavailable, match="stopped before the limit of 4,000 tokens"):
        machine_judging.judge(bench, planned(bench, tokens=4000))
    told = journal.spent(bench.store, bench.job)
    assert told.tokens <= 4000
    assert told.requests == len(server.asked) == len(stored(bench))
    # The server says 100 each; where it says nothing, each counts as the most that it can take.
    assert (len(server.asked) > 20) == usage


def test_what_was_under_way_when_a_process_ended_is_not_asked_again(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    plan = planned(bench)
    ready = machine_judging.prepared(bench.store, plan)
    about = bench.store, "tiny", "gpt", bench.job, ready.identity, plan.address
    journal.Journal(*about).begin(("q1", "e1"), 500, plan.limits)
    assert "e1" not in judged(bench)
    assert server.counts["ships in the harbour", SHIPS[0]] == 0
    said = machine_judging.said(bench.store, plan, bench.job)
    assert said == f"13 requests, 1,700 tokens; 1 without a grade: {INTERRUPTED}"
    machine_judging.judge(replace(bench, job="judge-000000000001"), plan, again=True)
    assert server.counts["ships in the harbour", SHIPS[0]] == 1


def test_a_tasks_pairs_are_judged_by_its_grades_and_nobodys_grade_is_told(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    grades = ((0, "Astray"), (1, "Afloat"), (3, "Ashore"))
    plan = tasks.Plan(
        title="t",
        dataset="tiny",
        systems=("all",),
        depth=5,
        n_pairs=2,
        order="depth",
        seed=0,
        grades=grades,
        guideline="Only what floats.",
    )
    judgements = DataFrame({"query_id": [], "doc_id": [], "relevance": []}).astype("str")
    lists = DataFrame([("all", "q1", "d4", 1), ("all", "q1", "e1", 2)])
    tops = orders.Framed(lists.set_axis(["system", "query_id", "doc_id", "rank"], axis=1))
    task = tasks.make(bench.store, plan, tops, judgements.astype({"relevance": float}), "ada")
    server.answers = lambda *_: Answer("3")
    assert judged(bench, task=task.id, systems=()) == {"d4": 3, "e1": 3}
    before = sorted(asked.content for asked in server.asked)
    assert all("Only what floats." in content and "3 Ashore" in content for content in before)
    rows = DataFrame(
        [("q1", "d4", 1), ("q1", "e1", 3)], columns=["query_id", "doc_id", "relevance"]
    )
    about = {"dataset": "tiny", "person": "bo", "task": task.id, "guideline_version": "1"}
    bench.store.add_judgements(rows.assign(source="person", **about))
    server.asked.clear()
    assert len(judged(bench, task=task.id, systems=(), machine="later")) == 2
    assert sorted(asked.content for asked in server.asked) == before


def test_a_model_that_reasons_and_takes_other_parameters_is_asked_by_them(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_tokens=2_000, judge_at_once=1)
    allowed(bench)

    def answers(asked: Asked, _: int) -> Answer:
        for refused in ("max_tokens", "temperature"):
            if refused in asked.body:
                error = f'{{"error": {{"code": "unsupported_parameter", "param": "{refused}"}}}}'
                return Answer(status=400, body=error.encode())
        return Answer(
            f"<think>Is it 0 or 1?</think>\nIt fits in part. **Grade: {grade(asked).text}**"
        )

    server.answers = answers
    assert judged(bench) == {"d4": 2} | {f"e{number}": 0 for number in range(1, 13)}
    assert len(server.asked) == 13 + 2
    assert server.asked[-1].body["max_completion_tokens"] == 2_000
    told = journal.spent(bench.store, bench.job)
    assert (told.requests, told.tokens) == (15, 1_300), "what was refused cost nothing"
    said = journal.reasons(bench.store, "tiny", "q1", "d4")
    assert said == {"gpt": "It fits in part. **Grade: 2**"}
    with opened(bench.store) as ask:
        shown = parts(page, ask, dataset="tiny", systems="all", query="q1", document="d4")
    facts = {fact for part in shown if isinstance(part, Note) for fact in part.facts}
    assert "gpt: grade 2 (“It fits in part. **Grade: 2**”)." in facts


def test_a_document_without_text_is_not_asked_for(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, "", "ship")
    allowed(bench)
    found = machine_judging.estimate(machine_judging.prepared(bench.store, planned(bench)))
    assert (found.pairs, found.to_ask, found.without_text) == (3, 2, 1)
    assert found.sentence.endswith("; 1 without text here")
    assert "e1" not in judged(bench)
    assert len(server.asked) == 2


@pytest.mark.long
def test_the_estimate_covers_what_is_spent(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS, "ż" * 9000)
    allowed(bench)
    found = machine_judging.estimate(machine_judging.prepared(bench.store, planned(bench)))
    server.answers = lambda asked, _: replace(Answer("no grade"), usage=False)
    with pytest.raises(Unavailable):
        machine_judging.judge(bench, planned(bench))
    assert 0 < journal.spent(bench.store, bench.job).tokens <= found.most_tokens


def test_grades_of_one_machine_are_of_one_kind(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    judged(bench)
    with pytest.raises(
        Conflict, match="gpt already has grades of tiny from a file or a run, or by another"
    ):
        machine_judging.judge(bench, planned(bench, guideline="Another one."))
    (tmp_path / "g.csv").write_text("query_id,doc_id,grade\nq1,d4,1\n", "utf-8")
    machine_judging.taking.import_file(
        bench,
        tmp_path / "g.csv",
        machine_judging.dataset("tiny", machine_judging.own_datasets(bench.store)),
        "f",
    )
    with pytest.raises(Conflict, match="f already has grades"):
        machine_judging.judge(bench, planned(bench, machine="f"))


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"machine": "a b"}, WrongInput, "cannot name an LLM"),
        ({"systems": ()}, WrongInput, "choose the pairs"),
        ({"depth": 0}, WrongInput, "choose the pairs"),
        ({"systems": ("al",)}, Missing, "no run of al on tiny is stored: did you mean all"),
        ({"task": "none"}, Missing, "no judging task none"),
        ({"requests": 0}, WrongInput, "limit the number of requests"),
        ({"tokens": 0}, WrongInput, "limit the number of requests"),
    ],
)
def test_plans_that_cannot_be_followed(
    tmp_path: Path, server: Machine, more: dict, error: type[BeirscopeError], said: str
) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    with pytest.raises(error, match=said):
        machine_judging.judge(bench, planned(bench, **more))
    assert server.asked == []


@pytest.mark.long
@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize(
    "fault",
    [Answer(status=500, headers=SOON), Answer(status=403), Answer(body=b"<html>")],
)
def test_one_document_that_the_server_fails_at_ends_no_judging(
    tmp_path: Path, server: Machine, at_once: int, fault: Answer
) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=at_once)
    allowed(bench)
    server.answers = lambda asked, _: fault if asked.document == SHIPS[5] else grade(asked)
    found = judged(bench)
    assert len(found) == 12
    assert "e6" not in found
    # The next start does not ask for it by itself.
    n_asked = len(server.asked)
    machine_judging.judge(replace(bench, job="judge-000000000001"), planned(bench))
    assert len(server.asked) == n_asked


def test_a_key_that_is_refused_from_the_start_stops_at_once(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=1)
    allowed(bench)
    server.answers = lambda *_: Answer(status=403)
    with pytest.raises(Unavailable, match="does not accept the key, or forbids"):
        machine_judging.judge(bench, planned(bench))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "counts"),
    [
        (Answer(status=503, headers=SOON), True),
        (Answer(body=b"<html>"), True),
        (Answer(status=429, headers=SOON), False),
        (Answer(status=401), False),
        (Answer(status=400), False),
    ],
)
def test_errors_that_may_have_cost_tokens_count_as_the_most(
    tmp_path: Path, server: Machine, fault: Answer, counts: bool
) -> None:
    bench = home(tmp_path, server)
    allowed(bench)
    server.answers = lambda *_: fault
    with pytest.raises(Unavailable):
        machine_judging.judge(bench, planned(bench))
    told = journal.spent(bench.store, bench.job)
    assert (told.tokens > 500 * told.requests) == counts
    assert counts or told.tokens == 0


def test_an_answer_that_nothing_can_read_leaves_no_request_open(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server)
    allowed(bench)
    # What a number of 5,000 digits does in whatever reads it as text.
    server.answers = lambda *_: Answer(body=b'{"choices": [{"message": ' + b"9" * 5000 + b"}]}")
    with pytest.raises(Unavailable, match="not as OpenAI's chat interface does"):
        machine_judging.judge(bench, planned(bench))
    assert journal.asked(bench.store, "tiny", "gpt")["outcome"].notna().all()


def test_grades_that_took_the_name_meanwhile_are_not_replaced(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS, judge_at_once=1)
    allowed(bench)
    (tmp_path / "g.csv").write_text("query_id,doc_id,grade\nq1,d4,1\n", "utf-8")
    tiny = machine_judging.dataset("tiny", machine_judging.own_datasets(bench.store))

    def answers(asked: Asked, _: int) -> Answer:
        if len(server.asked) == 3:
            again = Store(bench.settings)
            other = Bench(again, bench.settings, job="import")
            machine_judging.taking.import_file(other, tmp_path / "g.csv", tiny, "gpt")
        return grade(asked)

    server.answers = answers
    with pytest.raises(Conflict, match="got other grades of tiny during the judging"):
        machine_judging.judge(bench, planned(bench))
    assert len(stored(bench)) == 1
    assert len(journal.grades(journal.asked(bench.store, "tiny", "gpt"))) == 13


def test_one_model_at_two_addresses_is_two_machines(tmp_path: Path, server: Machine) -> None:
    bench = home(tmp_path, server)
    allowed(bench)
    judged(bench)
    part = bench.store.part(KIND, "tiny", "gpt")
    assert part is not None
    assert part.provenance["address"] == server.address
    elsewhere = replace(bench.settings, judge_address="http://elsewhere/v1")
    other = replace(bench, settings=elsewhere)
    with pytest.raises(Conflict, match="or by another model, server"):
        machine_judging.prepared(bench.store, planned(other))


def test_texts_that_are_forbidden_go_by_no_dataset_that_shares_them(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server)
    store, to = bench.store, server.address
    with pytest.raises(WrongInput, match="cqadupstack has parts: name one of them"):
        machine_judging.allow(store, "cqadupstack", to)
    names = ["cqadupstack/android", "msmarco", "msmarco/test", "scifact"]
    for name in names:
        machine_judging.allow(store, name, to)
        machine_judging.allow(store, name, "http://elsewhere")
    machine_judging.forbid(store, "cqadupstack")
    assert not journal.allowed(store, "cqadupstack/android", to)
    machine_judging.forbid(store, "msmarco", to)
    shared = [name for name in names if machine_judging.DATASETS[name].collection == "msmarco"]
    assert len(shared) > 1
    assert not any(journal.allowed(store, name, to) for name in shared)
    assert all(journal.allowed(store, name, "http://elsewhere") for name in shared)
    assert journal.allowed(store, "scifact", to)


def test_a_job_tells_of_its_own_requests_and_not_of_those_under_way(
    tmp_path: Path, server: Machine
) -> None:
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    plan = planned(bench)
    for job in ("judge-1", "judge-2"):
        about = bench.store, "tiny", "gpt", job, "1-x", plan.address
        journal.Journal(*about).begin(("q1", "e1"), 500, plan.limits)
    assert (
        machine_judging.said(bench.store, plan, "judge-1", active=True) == "1 request, 500 tokens"
    )
    ended = machine_judging.said(bench.store, plan, "judge-1")
    assert ended == f"1 request, 500 tokens; 1 without a grade: {INTERRUPTED}"


def test_the_key_is_nowhere(
    tmp_path: Path,
    server: Machine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_LOG", "debug")
    caplog.set_level(0)
    bench = home(tmp_path, server, *SHIPS)
    allowed(bench)
    judged(bench)
    server.key = "another"
    refused = Bench(bench.store, replace(bench.settings, judge_key=f"{KEY}é"), job=bench.job)
    told = io.StringIO()
    for each in (bench, refused):
        with pytest.raises(BeirscopeError) as error:
            machine_judging.judge(each, planned(bench, machine="other"))
        told.write(f"{error.value} {error.value!r}")
    told.write(repr(bench.settings))
    told.write("".join(record.getMessage() for record in caplog.records))
    told.write("".join(capfd.readouterr()))
    files = [Path(at) / name for at, _, names in os.walk(tmp_path) for name in names]
    assert len(files) > 5
    for content in (told.getvalue().encode(), *(file.read_bytes() for file in files)):
        assert KEY.encode() not in content
        assert KEY[3:20].encode() not in content

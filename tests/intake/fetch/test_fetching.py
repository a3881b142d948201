"""Fetching collections: from an address and from a hub, into a folder that runs read from."""

import dataclasses
import gzip
import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from compute.__main__ import main
from compute.base.errors import BeirscopeError, Conflict, Missing, Unavailable, WrongInput
from compute.base.locks import sole
from compute.datasets import DATASETS, dataset
from compute.intake.fetch import hub_names, offers
from compute.intake.fetch.fetching import Fetched, bring, fetch
from compute.intake.fetch.offers import OFFERS, Offer
from compute.intake.fetch.web import Patience
from compute.jobs import kinds, steps
from compute.store import loading
from compute.store.loading import Bench
from tests.support.processes import hub
from tests.support.processes.hostile_server import Answer, Hostile, hostile
from tests.support.tiny import write_tiny

PATIENCE = Patience(first=0, longest=5, connect=5, silence=2)
SCIFACT = OFFERS["scifact"]
TEXTS, JUDGEMENTS = "clarin-knext/scifact-pl", "clarin-knext/scifact-pl-qrels"


@pytest.fixture
def server() -> Iterator[Hostile]:
    """A server of the test's own."""
    with hostile() as running:
        yield running


@pytest.fixture
def the_hub(server: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """A hub that has the tiny collection as BEIR-PL's SciFact."""
    # What the environment sets before the library is loaded.
    template = f"{server.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    texts, judgements = hub.tiny_files(tmp_path / "tiny")
    hub.serve(server, TEXTS, hub_names.REVISIONS["scifact-pl"], texts)
    hub.serve(server, JUDGEMENTS, hub_names.LATEST, judgements)
    return server


def _zip(tmp_path: Path, extra: zipfile.ZipInfo | str = "") -> bytes:
    folder = write_tiny(tmp_path / "packed")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*.*")):
            archive.write(file, f"scifact/{file.relative_to(folder).as_posix()}")
        if extra:
            archive.writestr(extra, "x")
    return packed.getvalue()


def _offered(server: Hostile, content: bytes, *answers: Answer) -> Offer:
    """SciFact as if this were its published archive."""
    server.answers["/scifact.zip"] = answers or [Answer(content)]
    md5 = hashlib.md5(content).hexdigest()
    rows = tuple(dataclasses.replace(row, md5=md5) for row in SCIFACT.rows)
    return dataclasses.replace(
        SCIFACT, rows=rows, size=len(content), address=f"{server.address}/scifact.zip"
    )


def _folder(bench: Bench) -> Path:
    return bench.settings.home / "datasets"


def test_an_archive_of_one_dataset_is_fetched(
    bench: Bench, server: Hostile, tmp_path: Path
) -> None:
    offered = _offered(server, _zip(tmp_path))
    alone = dataclasses.replace(offered, rows=offered.rows[:1])
    assert bring(bench, alone, patience=PATIENCE).new


def test_a_fetched_archive_is_what_runs_read(bench: Bench, server: Hostile, tmp_path: Path) -> None:
    content = _zip(tmp_path)
    found = bring(bench, _offered(server, content), patience=PATIENCE)
    assert found == Fetched(found.offer, _folder(bench) / "scifact.zip", new=True)
    assert found.path.read_bytes() == content
    assert [path.name for path in _folder(bench).iterdir() if path.suffix != ".lock"] == [
        "scifact.zip"
    ]
    assert loading.load(bench, DATASETS["scifact"]).queries.rows == 3
    listed = offers.listed(bench.settings).set_index("archive")
    assert listed.loc["scifact", "here"] == "scifact.zip"


def test_what_is_here_is_fetched_only_when_asked_again(
    bench: Bench, server: Hostile, tmp_path: Path
) -> None:
    offer = _offered(server, _zip(tmp_path))
    bring(bench, offer, patience=PATIENCE)
    assert not bring(bench, offer, patience=PATIENCE).new
    assert len(server.asked) == 1
    assert bring(bench, offer, again=True, patience=PATIENCE).new
    assert len(server.asked) == 2


def test_an_archive_of_the_settings_folder_is_here_too(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "scifact.zip").write_bytes(_zip(tmp_path))
    now = dataclasses.replace(bench.settings, datasets=folder)
    found = fetch(dataclasses.replace(bench, settings=now), DATASETS["scifact/train"])
    assert (found.path, found.new) == (folder / "scifact.zip", False)


def test_the_old_archive_stays_when_the_new_one_fails(
    bench: Bench, server: Hostile, tmp_path: Path
) -> None:
    content = _zip(tmp_path)
    bring(bench, _offered(server, content), patience=PATIENCE)
    broken = _offered(server, content, Answer(b"PK" + content))
    with pytest.raises(WrongInput, match="is not the published file"):
        bring(bench, broken, again=True, patience=PATIENCE)
    assert (_folder(bench) / "scifact.zip").read_bytes() == content


def _link() -> zipfile.ZipInfo:
    link = zipfile.ZipInfo("scifact/qrels/dev.tsv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return link


@pytest.mark.parametrize(
    ("extra", "words"),
    [("../evil", r"'\.\./evil' leads out of the archive"), (_link(), "is a link")],
)
def test_an_unsafe_archive_is_not_kept_though_its_checksum_is_right(
    bench: Bench, server: Hostile, tmp_path: Path, extra: zipfile.ZipInfo | str, words: str
) -> None:
    offer = _offered(server, _zip(tmp_path, extra))
    with pytest.raises(WrongInput, match=rf"was not kept: scifact\.zip.*{words}"):
        bring(bench, offer, patience=PATIENCE)
    assert not list(_folder(bench).glob("*.zip")) + list(_folder(bench).glob(".*.part"))


def test_an_archive_that_lacks_the_collection_is_not_kept(bench: Bench, server: Hostile) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("scifact/README", "nothing else")
    with pytest.raises(WrongInput, match=r"contains no corpus\.jsonl"):
        bring(bench, _offered(server, packed.getvalue()), patience=PATIENCE)


def test_two_fetches_of_one_archive_do_not_meet(bench: Bench, server: Hostile) -> None:
    with sole(_folder(bench) / ".scifact.zip.lock"), pytest.raises(Conflict, match="already"):
        bring(bench, _offered(server, b"PK"), patience=PATIENCE)
    assert server.asked == []


def test_without_a_network_the_address_and_the_folder_are_named(bench: Bench) -> None:
    nowhere = dataclasses.replace(SCIFACT, address="http://127.0.0.1:1/scifact.zip")
    with pytest.raises(Unavailable) as refused:
        bring(bench, nowhere, patience=PATIENCE)
    assert str(refused.value) == (
        "http://127.0.0.1:1/scifact.zip cannot be fetched now (no server answers there); or get it"
        " by hand from http://127.0.0.1:1/scifact.zip and put scifact.zip into"
        f" {_folder(bench)}"
    )


def test_a_mirror_stands_in_for_the_published_address(
    bench: Bench, server: Hostile, tmp_path: Path
) -> None:
    offer = dataclasses.replace(_offered(server, _zip(tmp_path)), address="http://127.0.0.1:1/x")
    server.answers["/beir/scifact.zip"] = server.answers["/scifact.zip"]
    now = dataclasses.replace(bench.settings, mirror=f"{server.address}/beir/")
    assert bring(dataclasses.replace(bench, settings=now), offer, patience=PATIENCE).new
    wrong = dataclasses.replace(bench.settings, mirror="file:///srv")
    with pytest.raises(WrongInput, match=r"BEIRSCOPE_MIRROR\) is 'file:///srv', not an address"):
        bring(dataclasses.replace(bench, settings=wrong), offer, again=True)


def test_a_collection_of_the_hub_becomes_one_archive(bench: Bench, the_hub: Hostile) -> None:
    found = fetch(bench, dataset("scifact-pl"), patience=PATIENCE)
    with zipfile.ZipFile(found.path) as archive:
        names = archive.namelist()
        about = json.loads(archive.read("fetched.json"))
    assert names == ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "fetched.json"]
    assert about["hub"] == {TEXTS: hub.COMMIT, JUDGEMENTS: hub.COMMIT}
    assert loading.load(bench, dataset("scifact-pl")).judgements.rows == 5
    assert not any("Authorization" in one.headers for one in the_hub.asked)
    again = fetch(bench, dataset("scifact-pl"), again=True, patience=PATIENCE)
    assert (again.new, again.path.read_bytes()) == (True, found.path.read_bytes())


def test_files_of_the_hub_are_taken_up_after_a_cut_and_kept_for_a_later_call(
    bench: Bench, the_hub: Hostile
) -> None:
    place = hub.stored_at(TEXTS, "corpus.jsonl.gz")
    whole = the_hub.answers[place]
    queries = f"/datasets/{TEXTS}/resolve/{hub.COMMIT}/queries.jsonl.gz"
    sound = the_hub.answers[queries]
    assert not callable(whole)
    the_hub.answers[place] = [dataclasses.replace(whole[0], cut=60), *whole]
    the_hub.answers[queries] = [Answer(status=404)]
    with pytest.raises(Missing, match=r"queries\.jsonl\.gz no longer exists.*by hand"):
        fetch(bench, dataset("scifact-pl"), patience=PATIENCE)
    the_hub.answers[queries] = sound
    assert fetch(bench, dataset("scifact-pl"), patience=PATIENCE).new
    assert [one.headers.get("Range") for one in the_hub.of(place)] == [None, "bytes=60-"]


def _with_corpus(the_hub: Hostile, data: bytes) -> None:
    texts = {"corpus.jsonl.gz": data, "queries.jsonl.gz": gzip.compress(b"")}
    hub.serve(the_hub, TEXTS, hub_names.REVISIONS["scifact-pl"], texts)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(
            gzip.compress(bytes(20 * 1024**2)), "unpacks to more than 10,485,760 bytes", id="bomb"
        ),
        pytest.param(gzip.compress(b"{}" * 1000)[:-20], r"corpus\.jsonl\.gz is damaged", id="half"),
        pytest.param(
            gzip.compress(b"") + b"\x1f\x8b\x08junk" * 9, r"corpus\.jsonl\.gz is damaged", id="junk"
        ),
    ],
)
def test_packed_files_that_burst_or_are_damaged_leave_nothing(
    bench: Bench, the_hub: Hostile, data: bytes, words: str
) -> None:
    _with_corpus(the_hub, data)
    with pytest.raises(WrongInput, match=words):
        fetch(bench, dataset("scifact-pl"), patience=PATIENCE)
    assert [path.suffix for path in _folder(bench).iterdir()] == [".lock"]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(b"{}"), WrongInput, "does not answer as the hub does"),
        (Answer(b"<html>"), WrongInput, "does not answer as the hub does"),
        (Answer(b'{"id": "a", "sha": "../../x"}'), WrongInput, "does not answer as the hub does"),
        (Answer(status=403), Unavailable, r"the hub refuses .* \(status 403\)"),
        (Answer(status=503), Unavailable, "does not answer for clarin-knext/scifact-pl"),
        (Answer(breaks=True), Unavailable, "does not answer for clarin-knext/scifact-pl"),
        (
            Answer(status=404, headers={"X-Error-Code": "RepoNotFound"}),
            Missing,
            "is not on the hub",
        ),
        (
            Answer(json.dumps({"id": TEXTS, "sha": hub.COMMIT, "siblings": []}).encode()),
            Missing,
            r"has no corpus\.jsonl\.gz at commit 0123456: its layout has changed",
        ),
    ],
)
def test_a_hub_that_does_not_answer_well_gets_a_sentence(
    bench: Bench, the_hub: Hostile, answer: Answer, kind: type[BeirscopeError], words: str
) -> None:
    revision = hub_names.REVISIONS["scifact-pl"]
    the_hub.answers[f"/api/datasets/{TEXTS}/revision/{revision}"] = [answer]
    with pytest.raises(kind, match=words):
        fetch(bench, dataset("scifact-pl"), patience=PATIENCE)


def test_offline_and_a_wrong_endpoint_are_said(
    bench: Bench, the_hub: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(Unavailable, match="HF_HUB_OFFLINE is set: unset it"):
        fetch(bench, dataset("scifact-pl"), patience=PATIENCE)
    monkeypatch.setattr(constants, "ENDPOINT", "file:///srv/hub")
    with pytest.raises(WrongInput, match="HF_ENDPOINT is 'file:///srv/hub', not an address"):
        fetch(bench, dataset("scifact-pl"), patience=PATIENCE)


def test_every_dataset_of_the_catalogue_has_its_offer_or_a_reason() -> None:
    printed = {n: offer for n, offer in OFFERS.items() if "BEIR" in offer.rows[0].group}
    possible = {name for name, offer in printed.items() if not offer.obstacle}
    sized = {name for name, offer in printed.items() if offer.size}
    assert sized == {name for name, offer in printed.items() if offer.origin == offers.BEIR}
    assert sum(name.endswith("-pl") for name in possible) == 13
    assert len(possible) == 15 + 13
    for name in ("bioasq", "signal1m", "trec-news", "robust04", "poleval-wiki-trivia"):
        with pytest.raises(Unavailable, match=f"cannot be fetched: .*put it as {name}"):
            offers.offer(OFFERS[name].rows[0])
    for name, words in (("pydocs-numpy", "builds it"), ("nq-dpr", "only published scores")):
        with pytest.raises(WrongInput, match=words):
            offers.offer(DATASETS[name])


def test_the_repositories_are_named_as_the_hub_has_them() -> None:
    forums = hub_names.collections(OFFERS["cqadupstack-pl"].rows)
    assert len(forums) == 12
    assert forums[0].part == "android"
    assert forums[0].texts.name == "clarin-knext/cqadupstack-android-pl"
    assert forums[0].texts.revision == "75bac9224f0f376e82c89f2c95ab62a8a3eeb2f2"
    (touche,) = hub_names.collections(OFFERS["webis-touche2020-pl"].rows)
    assert touche.judgements.name == "clarin-knext/touche2020-pl-qrels"
    assert touche.texts.revision == "main"
    (dbpedia,) = hub_names.collections(OFFERS["dbpedia-entity-pl"].rows)
    assert dbpedia.texts.name == "clarin-knext/dbpedia-pl"


def test_a_job_fetches_each_archive_once_and_leaves_out_what_is_here(
    bench: Bench, the_hub: Hostile
) -> None:
    kind = kinds.KINDS["fetch"]
    named = ["nfcorpus/train", "nfcorpus", "cqadupstack-pl/unix", "scifact-pl"]
    wanted = kind.targets(bench.store, (), named)
    assert wanted == [("", "nfcorpus"), ("", "cqadupstack-pl"), ("", "scifact-pl")]
    assert kind.current(bench.store, wanted) == []
    order = {"system": "", "dataset": "scifact-pl", "options": {"again": False}}
    assert steps.STEPS["fetch"](bench, order)
    assert not steps.STEPS["fetch"](bench, order)
    assert kind.current(bench.store, wanted) == [("", "scifact-pl")]
    for systems, datasets in ((("bm25",), ("scifact",)), ((), ())):
        with pytest.raises(WrongInput):
            kind.targets(bench.store, systems, datasets)
    with pytest.raises(Unavailable, match="BioASQ cannot be fetched"):
        kind.targets(bench.store, (), ["bioasq"])


def test_the_progress_of_several_files_is_told_as_one(bench: Bench, the_hub: Hostile) -> None:
    told: list[tuple[int, int, str]] = []
    _with_corpus(the_hub, gzip.compress(bytes(range(256)) * 4000, 0))
    watched = dataclasses.replace(bench, progress=lambda *step: told.append(step))  # pyrefly: ignore
    fetch(watched, dataset("scifact-pl"), patience=PATIENCE)
    fetching = [(done, total) for done, total, unit in told if unit == "kB"]
    assert fetching == sorted(fetching)
    assert fetching[-1] == (1024, 1024)


def test_the_command_says_what_became_of_each(
    bench: Bench,
    the_hub: Hostile,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    monkeypatch.setenv("BEIRSCOPE_MIRROR", the_hub.address)
    assert main(["fetch", "scifact-pl"]) == 0
    assert "scifact-pl: fetched, checksum correct: " in capsys.readouterr().out
    assert main(["fetch", "scifact-pl", "scifact"]) == 2
    said = capsys.readouterr()
    assert "scifact-pl: here already: " in said.out
    assert f"{the_hub.address}/scifact.zip no longer exists (status 404)" in said.err
    assert "1 of 2 archives could not be fetched" in said.err
    assert main(["fetch", "bioasq"]) == 2
    assert main(["fetch", "--json"]) == 0
    rows = {row["archive"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["scifact-pl"]["here"] == "scifact-pl.zip"
    assert rows["msmarco"]["size"] == 1_082_258_632
    assert main(["fetch"]) == 0
    assert "its articles are given to those who register" in capsys.readouterr().out

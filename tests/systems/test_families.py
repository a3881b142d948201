import pytest

from compute.base.errors import WrongInput
from compute.systems import learnt_from, system
from compute.systems.checkpoints import Checkpoint
from compute.systems.combine.monot5 import MonoT5
from compute.systems.combine.rerank import CrossEncoder, LateReranker, Reranker
from compute.systems.neural.late import LateInteraction


@pytest.mark.parametrize(
    ("written", "name", "inputs"),
    [
        ("rrf( bm25 , minilm )", "rrf(bm25,minilm)", ("bm25", "minilm")),
        ("rrf(minilm,bm25(b=0.40),k=60)", "rrf(minilm,bm25)", ("minilm", "bm25")),
        (
            "interpolate(bm25(k1=1.20),my-run,weight=.30)",
            "interpolate(bm25(k1=1.2),my-run,weight=0.3)",
            ("bm25(k1=1.2)", "my-run"),
        ),
        (
            "rrf(bm25,rrf(bm25,minilm),k=10)",
            "rrf(bm25,rrf(bm25,minilm),k=10)",
            ("bm25", "rrf(bm25,minilm)"),
        ),
    ],
)
def test_a_name_makes_a_system_of_other_runs(
    written: str, name: str, inputs: tuple[str, ...]
) -> None:
    made = system(written)
    assert (made.name, made.family, made.inputs) == (name, "fusion", inputs)
    assert system(made.name) == made


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("rrf(bm25,minilm)", "RRF: BM25 + all-MiniLM-L6-v2"),
        ("rrf(bm25,rrf(a,b),k=10)", "RRF: BM25 + rrf(a,b), k=10"),
        (
            "interpolate(bm25(k1=1.2),a,weight=0.3)",
            "Interpolation: bm25(k1=1.2) + a, weight=0.3",
        ),
        ("maxsim(some/model)", "maxsim(some/model)"),
    ],
)
def test_a_fusion_is_called_by_its_words(name: str, title: str) -> None:
    assert system(name).title == title


@pytest.mark.parametrize(
    ("written", "name", "kind", "first"),
    [
        (
            "rerank( bm25(b=0.40), cross-encoder/x, depth=50)",
            "rerank(bm25,cross-encoder/x,depth=50)",
            CrossEncoder,
            "bm25",
        ),
        (
            "rerank(my-run,some/model,depth=100)",
            "rerank(my-run,some/model)",
            CrossEncoder,
            "my-run",
        ),
        (
            "monot5(rrf(bm25,minilm),a/t5,yes=ja,no=nein)",
            "monot5(rrf(bm25,minilm),a/t5,yes=ja,no=nein)",
            MonoT5,
            "rrf(bm25,minilm)",
        ),
        ("rerank-maxsim(minilm,/a/b)", "rerank-maxsim(minilm,/a/b)", LateReranker, "minilm"),
    ],
)
def test_a_name_makes_a_reranker_of_any_run_and_model(
    written: str, name: str, kind: type[Reranker], first: str
) -> None:
    made = system(written)
    assert isinstance(made.search, kind)
    assert (made.name, made.family, made.inputs) == (name, "rerank", (first,))
    assert system(made.name) == made


def test_a_name_makes_late_interaction_of_any_model() -> None:
    made = system("maxsim(some/model,candidates=50)")
    expected = LateInteraction(Checkpoint("some/model"), candidates=50)
    assert (made.search, made.family) == (expected, "late-interaction")
    here = system("colbert(model=/a/folder)").search
    assert isinstance(here, LateInteraction)
    assert (here.model, here.query_length, here.document_length) == ("/a/folder", 32, 300)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("rrf(bm25)", "two or more different systems, like rrf"),
        ("rrf(bm25,bm25(b=0.4))", "two or more different systems"),
        ("rrf(bm25,minilm,weight=3)", "rrf has no parameter 'weight'; it takes: k"),
        ("rff(bm25,minilm)", "did you mean: rrf"),
        ("rrf(mine(x=1),bm25)", "no system 'mine'"),
        ("rrf(bm25(k3=1),minilm)", "no parameter 'k3'"),
        ("rrf[nfcorpus](bm25,minilm)", "not trained on a dataset"),
        ("rerank(bm25)", "name a system and a model, or its folder, like rerank(bm25,some/model)"),
        ("rerank(bm25,minilm(max_length=9))", "minilm(max_length=9) is not the name or the folder"),
        ("monot5(bm25,a,model=b)", "give the model second in the brackets, not as model="),
        ("rerank(bm25,a,depth=0)", "depth is 0; it must be 1 or more"),
        ("maxsim(a,b)", "name one model, or its folder, like maxsim(some/model)"),
    ],
)
def test_names_that_make_nothing_are_answered(written: str, message: str) -> None:
    with pytest.raises(WrongInput) as refused:
        system(written)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "learnt"),
    [
        ("bm25-augmented[scifact]", {"scifact/train"}),
        ("rrf(bm25,bm25-augmented[one])", {"one"}),
        ("genq[one](queries=judged)", {"one"}),
        ("genq[one](queries=title)", set()),
        ("bm25", set()),
        ("somebody's[run", set()),
    ],
)
def test_what_a_system_learnt_from_is_the_train_split_or_the_queries_themselves(
    name: str, learnt: set[str]
) -> None:
    collections = {"scifact": "scifact", "scifact/train": "scifact", "one": "one"}
    assert learnt_from(name, collections) == learnt

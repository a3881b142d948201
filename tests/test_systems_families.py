import pytest

from compute.errors import WrongInput
from compute.systems import system


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
    assert (made.name, made.title, made.family, made.inputs) == (name, name, "fusion", inputs)
    assert system(made.name) == made


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("rrf(bm25)", "two or more different systems, like rrf"),
        ("rrf(bm25,bm25(b=0.4))", "two or more different systems"),
        ("rrf(bm25,minilm,weight=3)", "rrf has no parameter 'weight'; it takes: k"),
        ("rff(bm25,minilm)", "did you mean: rrf"),
        ("rrf(mine(x=1),bm25)", "no system 'mine'"),
        ("rrf(bm25(k3=1),minilm)", "no parameter 'k3'"),
        ("rrf[nfcorpus](bm25,minilm)", "not trained on a collection"),
    ],
)
def test_names_that_make_nothing_are_answered(written: str, message: str) -> None:
    with pytest.raises(WrongInput) as refused:
        system(written)
    assert message in str(refused.value)

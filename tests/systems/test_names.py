import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import WrongInput
from compute.systems import names
from compute.systems.names import Name, canonical, parse

words = st.text(
    st.characters(exclude_categories=("Cs", "Z", "Cc"), exclude_characters="[](),="), min_size=1
).filter(lambda word: not any(letter.isspace() for letter in word))
numbers = st.one_of(
    st.integers(-(10**14), 10**14),
    st.floats(1e-9, 1e9).map(lambda x: int(x) if x.is_integer() else x),
)
plain_words = words.filter(lambda word: not names._NUMBER.fullmatch(word))
parameters = st.dictionaries(words, st.one_of(numbers, plain_words), max_size=3)


def _names(inputs: st.SearchStrategy[tuple[Name, ...]]) -> st.SearchStrategy[Name]:
    return st.builds(
        Name,
        base=words,
        trained_on=st.one_of(st.just(""), words),
        inputs=inputs,
        parameters=parameters.map(lambda given: tuple(given.items())),
    )


all_names = st.recursive(
    _names(st.just(())),
    lambda inner: _names(st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)


@given(all_names)
def test_every_name_reads_back_as_it_was_written(name: Name) -> None:
    assert parse(str(name)) == name


@given(st.fixed_dictionaries({}, optional={"k1": numbers, "b": numbers}))
def test_canonical_names_are_their_own_canonical_names(given: dict[str, names.Value]) -> None:
    defaults = {"k1": 0.9, "b": 0.4}
    once = canonical(Name("bm25", parameters=tuple(given.items())), defaults)
    assert canonical(parse(str(once)), defaults) == once
    assert dict(once.parameters) == {k: v for k, v in given.items() if v != defaults[k]}


@given(st.text(alphabet="ab1.,=()[] -e", max_size=30))
def test_text_is_a_name_or_wrong_input(text: str) -> None:
    try:
        name = parse(text)
    except WrongInput:
        return
    assert parse(str(name)) == name


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        ("bm25", "bm25"),
        ("bm25()", "bm25"),
        (" bm25( b = .75 , k1 = 1.20 ) ", "bm25(k1=1.2,b=0.75)"),
        ("bm25(k1=0.90,b=0.4)", "bm25"),
        ("bm25(k1=1e-5)", "bm25(k1=0.00001)"),
        ("bm25(k1=2.0)", "bm25(k1=2)"),
    ],
)
def test_defaults_are_left_out_and_numbers_are_short(written: str, canonical_form: str) -> None:
    assert str(canonical(parse(written), {"k1": 0.9, "b": 0.4})) == canonical_form


def test_names_hold_systems_and_what_they_were_trained_on() -> None:
    read = parse("rerank(bm25-augmented[nfcorpus/train], cross-encoder/x, depth=100)")
    assert read.inputs[0] == Name("bm25-augmented", trained_on="nfcorpus/train")
    assert read.parameters == (("depth", 100),)
    assert str(read) == "rerank(bm25-augmented[nfcorpus/train],cross-encoder/x,depth=100)"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "a word is missing at its end"),
        ("bm25(k1=", "a value is missing after k1= at its end"),
        ("bm25(k1=,b=1)", "a value is missing after k1= at character 9"),
        ("bm25(k1=1.2", "the bracket at character 5 is not closed: add ) at the end"),
        ("rrf(bm25", "the bracket at character 4 is not closed: add ) at the end"),
        ("rrf(rrf(a,b)", "the bracket at character 4 is not closed: add ) at the end"),
        ("rrf(", "it ends after (: name a system or a parameter, then close with )"),
        ("rrf(bm25,", "it ends after ,: name a system or a parameter, then close with )"),
        ("rrf(bm25,,x)", "there is nothing between , and , at character 10: name a system or a"),
        ("rrf(,x)", "there is nothing between ( and , at character 5"),
        ("rrf(bm25,)", "there is nothing between , and ) at character 10"),
        ("rrf(bm25))", "it ends before character 10: leave out ')'"),
        ("rrf(bm25 x)", ", is missing at character 10"),
        ("bm25[scifact", "] is missing at its end"),
        ("(bm25)", "a word is missing at character 1"),
        ("bm25 flat", "it ends before character 6: leave out 'flat'"),
        ("bm25(k1=1,k1=2)", "'k1' occurs twice, again before character 13"),
        ("bm25(k1=1e300)", "the number at character 9 is too large or too small"),
        ("a" + "(b" * 9 + ")" * 9, "more than 8 nested brackets"),
    ],
)
def test_what_is_no_name_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(WrongInput, match="is not a system name") as refused:
        parse(text)
    assert place in str(refused.value)


def test_a_value_of_another_kind_is_refused() -> None:
    with pytest.raises(WrongInput, match="k1 is 'high' but must be a number"):
        canonical(parse("bm25(k1=high)"), {"k1": 0.9})
    with pytest.raises(WrongInput, match=r"depth is '1\.5' but must be"):
        canonical(parse("x(depth=1.5)"), {"depth": 100})

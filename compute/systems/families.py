"""Families: systems that are defined by a name instead of a row; `names` reads and writes names.

rrf(bm25,minilm)  interpolate(bm25,minilm,weight=0.3)  dense(some/model)
sparse(some/model,max_length=256)  maxsim(some/model)
rerank(bm25,some/model,depth=50)  monot5(bm25,some/model)  rerank-maxsim(bm25,some/model)
"""

import contextlib
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from compute.base.errors import WrongInput
from compute.systems import names
from compute.systems.catalogue import REFERENCE, SYSTEMS, System
from compute.systems.checkpoints import Checkpoint, from_text, read_by
from compute.systems.combine.fusion import TUNED, Interpolation, Rrf
from compute.systems.combine.monot5 import MonoT5
from compute.systems.combine.rerank import CrossEncoder, LateReranker, Reranker
from compute.systems.lexical.sparse import Sparse
from compute.systems.neural.dense import Dense
from compute.systems.neural.late import LateInteraction
from compute.systems.searcher import Method

Builder = Callable[[names.Name], System]
FUSIONS = {"rrf": "RRF", "interpolate": "Interpolation"}
"""Display names of the families that combine several runs into one."""


def system(name: str) -> System:
    """Return the system with this name, under its canonical name: `bm25(k1=1.20)` is
    `bm25(k1=1.2)`. Raises WrongInput for an invalid name, unknown system or parameters."""
    return _built(names.parse(name))


def _built(read: names.Name) -> System:
    """Build the system of a parsed name."""
    if read.trained_on:
        return _trained(read)
    if read.base in FAMILIES:
        return FAMILIES[read.base](read)
    if read.base not in SYSTEMS:
        known = [*SYSTEMS, *FAMILIES]
        close = difflib.get_close_matches(read.base, known, n=3) or known
        raise WrongInput(f"no system {read.base!r}; did you mean: {', '.join(close)}?")
    if read.inputs:
        raise WrongInput(f"{read}: {read.base} is not made from other systems or datasets")
    return SYSTEMS[read.base].with_parameters(read)


def _trained(read: names.Name) -> System:
    """Build the system of a name such as `genq[scifact]`."""
    row = SYSTEMS.get(read.base)
    if row is None or row.recipe is None:
        known = ", ".join(name for name, row in SYSTEMS.items() if row.recipe)
        raise WrongInput(f"{read}: {read.base} is not trained on a dataset; these are: {known}")
    if read.inputs:
        raise WrongInput(f"{read}: {read.base} is not made from other systems")
    return row.trained(read)


def from_outside(name: str) -> System:
    """Return the system that a page names. Raises WrongInput as `system` does, and for a name that
    reads weights from a folder of this machine."""
    found = system(name)
    if reads_a_folder(name):
        raise WrongInput(
            f"{found.name} reads a folder of this machine: start it on the command line, "
            "python -m compute run SYSTEM DATASET"
        )
    return found


def reads_a_folder(name: str) -> bool:
    """Return whether a system, or one of its inputs, names weights in a folder of this machine."""
    try:
        found = system(name)
    except WrongInput:
        # An imported run may have a name that is not a system's.
        return False
    weights = [*read_by(found.search), *read_by(found.recipe)]
    return any(one.is_local for one in weights) or any(map(reads_a_folder, found.inputs))


def rows_behind(name: str) -> set[str]:
    """Return the rows of the catalogue from which a system is made: two for
    `rrf(bm25(b=1),minilm)`. A system trained on a dataset counts as a row. A name that is not a
    system's, such as an imported run's, is returned unchanged."""
    try:
        found = system(name)
    except WrongInput:
        return {name}
    read = names.parse(name)
    if read.trained_on:
        return {found.name}
    base = read.base
    inputs = set().union(*map(rows_behind, found.inputs)) if found.inputs else set()
    return inputs | ({base} if base in SYSTEMS else set())


def learnt_from(name: str, collections: Mapping[str, str]) -> set[str]:
    """Return the datasets whose judged queries were used here to train a system, or one from which
    it is made, or to choose a parameter of its fusion. `collections` has the collection of each
    known dataset. Recipes learn from the train split or, if there is none, from the judged queries
    of the dataset that they are given."""
    found = _tuned_on(name)
    for row in rows_behind(name):
        with contextlib.suppress(WrongInput):  # an imported run's name
            if (read := names.parse(row)).trained_on and system(row).trained_on:
                given = read.trained_on
                train = f"{collections.get(given, given)}/train"
                found.add(train if train in collections else given)
    return found


def _tuned_on(name: str) -> set[str]:
    """Return the datasets on which a fusion's parameters, or those of its inputs, were chosen."""
    try:
        read = names.parse(name)
    except WrongInput:  # an imported run's name
        return set()
    own = {str(value) for key, value in read.parameters if key == TUNED}
    return own.union(*(_tuned_on(str(one)) for one in read.inputs))


def made(name: names.Name, family: str, method: Method, *inputs: str) -> System:
    """Make a system of a family. `name` is its canonical name; `inputs` are the canonical names of
    the systems among its arguments."""
    row = System(name.base, search=method, inputs=inputs, family=family, evidence=REFERENCE)
    found = row.with_parameters(name)
    return replace(found, title=_title(names.parse(found.name), inputs))


def _title(name: names.Name, inputs: Sequence[str]) -> str:
    """Return a title that is as unique as the name: `RRF: BM25 + rrf(a,b), k=10`; for families
    other than fusions, the name itself."""
    if name.base not in FUSIONS:
        return str(name)
    given = [str(replace(name, inputs=(), parameters=(one,))) for one in name.parameters]
    told = [words.removeprefix(name.base).strip("()") for words in given]
    return ", ".join([f"{FUSIONS[name.base]}: {' + '.join(map(_called, inputs))}", *told])


def _called(name: str) -> str:
    """Return a system's title, such as plain `BM25` for `bm25`; other names are unchanged."""
    title = SYSTEMS[name].title if name in SYSTEMS else name
    plain = title.partition(" (")[0]
    return plain if plain.lower() == name else title


def input_name(name: names.Name) -> str:
    """Return the canonical name of an input; the name of an imported run is unchanged. Raises
    WrongInput if the name has brackets and is not a system's."""
    plain = str(name) == name.base
    if plain and name.base not in SYSTEMS and name.base not in FAMILIES:
        return name.base
    return _built(name).name


def _fusion(method: Method, name: names.Name) -> System:
    """Build a fusion, after checking its inputs."""
    inputs = tuple(map(input_name, name.inputs))
    if len(set(inputs)) < max(len(inputs), 2):
        raise WrongInput(
            f"{name}: name two or more different systems, like {name.base}(bm25,minilm)"
        )
    canonical = replace(name, inputs=tuple(map(names.parse, inputs)))
    return made(canonical, "fusion", method, *inputs)


def _model(family: str, method: Callable[[Checkpoint], Method], name: names.Name) -> System:
    """Build a system that is one model, such as `dense(some/model)`."""
    if len(name.inputs) != 1:
        raise WrongInput(f"{name}: name one model, or its folder, like {name.base}(some/model)")
    return made(name, family, method(_checkpoint(name, name.inputs[0])))


def _reranker(method: Callable[[Checkpoint], Reranker], name: names.Name) -> System:
    """Build a reranker, such as `rerank(bm25,some/model)`."""
    if len(name.inputs) != 2:
        raise WrongInput(
            f"{name}: name a system and a model, or its folder, like {name.base}(bm25,some/model)"
        )
    first = input_name(name.inputs[0])
    canonical = replace(name, inputs=(names.parse(first), name.inputs[1]))
    return made(canonical, "rerank", method(_checkpoint(name, name.inputs[1])), first)


def _checkpoint(name: names.Name, model: names.Name) -> Checkpoint:
    """Return the checkpoint that an argument names. Raises WrongInput if it is not a model."""
    if str(model) != model.base:
        raise WrongInput(f"{name}: {model} is not the name or the folder of a model")
    if "model" in dict(name.parameters):
        place = "first" if model is name.inputs[0] else "second"
        raise WrongInput(f"{name}: give the model {place} in the brackets, not as model=")
    return from_text(model.base)


FAMILIES: Mapping[str, Builder] = MappingProxyType(
    {
        "rrf": partial(_fusion, Rrf()),
        "interpolate": partial(_fusion, Interpolation()),
        "dense": partial(_model, "dense", lambda checkpoint: Dense(checkpoint=checkpoint)),
        "sparse": partial(_model, "sparse", Sparse),
        "maxsim": partial(_model, "late-interaction", LateInteraction),
        "rerank": partial(_reranker, CrossEncoder),
        "monot5": partial(_reranker, MonoT5),
        "rerank-maxsim": partial(_reranker, LateReranker),
    }
)
"""Builders of the families, by the word before the bracket."""

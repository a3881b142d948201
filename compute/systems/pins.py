"""The commits of the Hugging Face hub that models of the catalogue are taken from.

Each was seen elsewhere: in MTEB's list of models, in caches that public code names, or in public
addresses of the hub. A model that is not here is taken from `main`, and what that was is recorded
with the run.
"""

from collections.abc import Mapping
from types import MappingProxyType

LATEST = "main"
REVISIONS: Mapping[str, str] = MappingProxyType(
    {
        "bert-base-uncased": "86b5e0934494bd15c9632b12f734a8a67f723594",
        "clarin-knext/herbert-base-reranker-msmarco": "0a3e1a91f7b4dc99d242a4a3fbdfcfe7f3b1eb86",
        "clarin-knext/plt5-base-msmarco": "09e92292666d973335d42c8409b14cd97e8fd3ca",
        "clarin-knext/plt5-large-msmarco": "4cadd3d4d4750947f1d6d46bce7b5bad36253675",
        "colbert-ir/colbertv2.0": "c1e84128e85ef755c096a95bdb06b47793b13acf",
        "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1": "1427fd652930e4ba29e8149678df786c240d8825",
        "cross-encoder/ms-marco-MiniLM-L-6-v2": "c5ee24cb16019beea0893ab7796b1df96625c6b8",
        "cross-encoder/ms-marco-electra-base": "ca0d791df8ce6860ab591aca3c2a8e54b164254f",
        "naver/splade-cocondenser-ensembledistil": "49cf4c7b0db5b870a401ddf5e2669993ef3699c7",
        "sentence-transformers/LaBSE": "e34fab64a3011d2176c99545a93d5cbddc9a91b7",
        "sentence-transformers/all-MiniLM-L6-v2": "c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
        "sentence-transformers/msmarco-distilbert-base-tas-b": (
            "b12d9352e776979147078a8975a4885042984fd1"
        ),
    }
)
"""By the name of the model."""


def revision(model: str) -> str:
    """The commit that a model is taken from, or `main`."""
    return REVISIONS.get(model, LATEST)

"""The identity of a result: everything that determines its content. Two results with the same
identity are the same. Provenance records more; the identity is a part of it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

_KINDS = (
    "corpus queries narratives query_labels judgements subtopics machine_grades carried leakage"
    " documents lengths length_counts ngrams wordpieces overlap generated material recipe model"
    " training augmented translation index shard embeddings hits top scores efficiency repeats"
    " run_scores printed anchor"
)
FORMAT = dict.fromkeys(_KINDS.split(), 1)
"""The format version of every kind, increased by hand when the meaning of its content changes."""


def fingerprint(kind: str, inputs: Sequence[str], **parameters: Any) -> str:
    """Return the SHA-256, in hexadecimal, of the canonical JSON of kind, format, inputs and
    parameters. `inputs` are fingerprints, in an order fixed by the kind. The parameters include
    everything that changes the result (the system's canonical name, revisions, hashes, depth), but
    not seconds, hardware or library versions. Raises KeyError for an unknown kind, TypeError or
    ValueError for a parameter that JSON cannot hold exactly."""
    if kind not in FORMAT:
        raise KeyError(f"no kind {kind!r}; known: {', '.join(FORMAT)}")
    if isinstance(inputs, str):
        raise TypeError("inputs is a list of fingerprints, not one string")
    record = {
        "kind": kind,
        "format": FORMAT[kind],
        "inputs": list(inputs),
        "parameters": parameters,
    }
    return hashlib.sha256(canonical_json(record).encode("utf-8")).hexdigest()


def canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, 1.0 written as 1. NaN is
    refused."""
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _plain(value: Any) -> Any:
    """Return the value with whole floats as integers. Raises TypeError if JSON cannot hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys of parameters are strings")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be a parameter: use strings, numbers and lists")

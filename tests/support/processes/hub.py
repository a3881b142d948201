"""A hub of the test's own: repositories of data sets as the Hugging Face hub serves them."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes.hostile_server import Answer, Hostile
from tests.support.tiny import write_tiny

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SIGNATURE = "?Signature=secret-of-the-content-network"

Content = Mapping[str, bytes]


def tiny_files(folder: Path) -> tuple[Content, Content]:
    """The tiny collection as its two repositories have it: texts packed, judgements plain."""
    write_tiny(folder)
    texts = {
        f"{name}.gz": gzip.compress((folder / name).read_bytes(), mtime=0)
        for name in ("corpus.jsonl", "queries.jsonl")
    }
    return texts, {"test.tsv": (folder / "qrels" / "test.tsv").read_bytes()}


def serve(server: Hostile, repository: str, revision: str, content: Content) -> None:
    """Have the server list a repository at a revision, and hand its files out.

    Packed files lie elsewhere, where a redirect with a signature leads to, others at once.
    """
    siblings = [_entry(*file) for file in content.items()]
    told = {"id": repository, "sha": COMMIT, "siblings": siblings}
    api = f"/api/datasets/{repository}/revision/{revision}"
    server.answers[api] = [Answer(json.dumps(told).encode(), etag="")]
    for name, data in content.items():
        at = f"/datasets/{repository}/resolve/{COMMIT}/{name}"
        server.answers[at] = [Answer(data)]
        if name.endswith(".gz"):
            elsewhere = stored_at(repository, name)
            location = {"Location": f"{server.address}{elsewhere}{SIGNATURE}"}
            server.answers[at] = [Answer(status=302, headers=location, etag="")]
            server.answers[elsewhere] = [Answer(data)]


def stored_at(repository: str, name: str) -> str:
    """The path that a packed file is redirected to."""
    return f"/storage/{repository}/{name}"


def _entry(name: str, data: bytes) -> dict[str, object]:
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    entry: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": blob}
    if name.endswith(".gz"):
        digest = hashlib.sha256(data).hexdigest()
        entry["lfs"] = {"size": len(data), "sha256": digest, "pointerSize": 132}
    return entry

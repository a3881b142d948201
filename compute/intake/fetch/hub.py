"""A dataset repository on the Hugging Face hub: its files, sizes, checksums and commit."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from httpx2 import HTTPError
from huggingface_hub import HfApi, constants, hf_hub_url
from huggingface_hub.errors import (
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.datasets import layout
from compute.intake.fetch.addresses import checked, shown
from compute.intake.fetch.hub_names import Collection, Repository
from compute.intake.fetch.partial import Expected
from compute.intake.fetch.web import Patience

SPLITS = ("train.tsv", "dev.tsv", "test.tsv")
_GZIP = b"\x1f\x8b"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class File:
    """A file of a repository, and its name in the archive that is packed."""

    repository: Repository
    """The repository and its commit."""
    name: str
    member: str
    expected: Expected

    @property
    def address(self) -> str:
        """The address from which the file is downloaded."""
        name, revision = self.repository
        return hf_hub_url(
            name, self.name, repo_type="dataset", revision=revision, endpoint=endpoint()
        )


def endpoint() -> str:
    """Return the address of the hub: HF_ENDPOINT, or the default. Raises WrongInput."""
    return checked(constants.ENDPOINT, "HF_ENDPOINT")


def files(collections: Iterable[Collection], patience: Patience) -> list[File]:
    """Return the files of collections. Raises Unavailable, or Missing if the hub lacks any."""
    return [file for one in collections for file in _files(one, patience)]


def _files(collection: Collection, patience: Patience) -> list[File]:
    """Return the corpus, queries and qrels of a collection."""
    inside = f"{collection.part}/" if collection.part else ""
    texts, of_texts = _listed(collection.texts, patience)
    judgements, of_judgements = _listed(collection.judgements, patience)
    found = [
        _file(texts, of_texts, f"{name}.gz", inside + name, _GZIP)
        for name in (layout.CORPUS, layout.QUERIES)
    ]
    splits = [name for name in SPLITS if name in of_judgements]
    if not splits:
        raise Missing(f"{judgements.name} on the hub has none of {', '.join(SPLITS)}")
    return found + [
        _file(judgements, of_judgements, name, f"{inside}qrels/{name}", b"") for name in splits
    ]


def _file(
    repository: Repository, listed: dict[str, RepoSibling], name: str, member: str, starts: bytes
) -> File:
    """Return a file of a repository with its size and checksum."""
    if name not in listed:
        raise Missing(
            f"{repository.name} on the hub has no {name} at commit {repository.revision[:7]}:"
            " its layout has changed"
        )
    entry = listed[name]
    if entry.lfs is not None and _SHA256.fullmatch(entry.lfs.sha256):
        expected = Expected("sha256", entry.lfs.sha256, entry.lfs.size, starts)
    elif entry.blob_id and _COMMIT.fullmatch(entry.blob_id):
        expected = Expected("git", entry.blob_id, entry.size, starts)
    else:
        raise Unavailable(f"the hub gives no checksum for {name} in {repository.name}")
    return File(repository, name, member, expected)


def _listed(
    repository: Repository, patience: Patience
) -> tuple[Repository, dict[str, RepoSibling]]:
    """Return the repository at its revision's commit, and its files by name; retry on failure."""
    for failures in range(1, patience.unreached + 1):
        try:
            return _ask(repository, patience)
        except (HTTPError, OSError):
            if failures == patience.unreached:
                break
            time.sleep(patience.pause(failures))
    raise Unavailable(
        f"{shown(endpoint())} does not answer for {repository.name}: check the network, and set"
        " HTTPS_PROXY if a proxy is needed"
    )


def _ask(repository: Repository, patience: Patience) -> tuple[Repository, dict[str, RepoSibling]]:
    """Ask the hub once for a repository's commit and files."""
    name, revision = repository
    # The collections are public, so no token of this machine's user is sent.
    hub = HfApi(endpoint=endpoint(), token=False)
    try:
        told = hub.dataset_info(
            name, revision=revision, files_metadata=True, timeout=patience.silence
        )
    except OfflineModeIsEnabled:
        raise Unavailable("HF_HUB_OFFLINE is set: unset it to ask the hub") from None
    except (RepositoryNotFoundError, RevisionNotFoundError):
        raise Missing(f"{name} at {revision} is not on the hub ({shown(endpoint())})") from None
    except HfHubHTTPError as error:
        if error.response.status_code >= 500 or error.response.status_code == 429:
            raise
        status = error.response.status_code
        raise Unavailable(f"the hub refuses {name} (status {status})") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        told = None
    if told is None or not _COMMIT.fullmatch(str(told.sha)):
        raise WrongInput(
            f"{shown(endpoint())} does not answer as the hub does: fix or unset HF_ENDPOINT"
        )
    return Repository(name, str(told.sha)), {s.rfilename: s for s in told.siblings or ()}

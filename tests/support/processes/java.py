"""Java's start made short for tests: most of one is loading Lucene's classes, over and over.

The classes of an index and of a search are kept in a file of the virtual environment, read as they
were verified once (class data sharing); and what runs for a second is compiled once, not twice.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compute.base.errors import Unavailable
from compute.systems.lexical import anserini

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LONGEST = 120
"""Seconds that making the file may take; on an idle machine it is five."""


def options() -> str:
    """Options for every Java of the tests, or none where the file cannot be made."""
    archive = Path(sys.prefix) / f"anserini-{anserini.VERSION}.jsa"
    try:
        java, jar = anserini._java(), anserini._jar()
        if not _usable(archive, java, jar):
            with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
                _make([str(java), *QUICK], jar, Path(folder)).replace(archive)
    except (OSError, subprocess.SubprocessError, Unavailable):
        return ""
    # A Java that cannot use the file goes without it, and says nothing of it.
    return " ".join([*QUICK, f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable"])


def _usable(archive: Path, java: Path, jar: Path) -> bool:
    """Whether this Java takes the file for this jar: both must be, and lie, as they were."""
    words = [str(java), *QUICK, f"-XX:SharedArchiveFile={archive}", "-Xshare:on", "-cp", str(jar)]
    return (
        subprocess.run([*words, "-version"], capture_output=True, timeout=LONGEST).returncode == 0
    )


def _make(java: list[str], jar: Path, folder: Path) -> Path:
    """The file, from the classes that an index and a search of one document load."""
    (folder / "documents").mkdir()
    (folder / "documents" / "one.jsonl").write_text('{"id": "1", "contents": "a cat"}\n', "utf-8")
    (folder / "topics.tsv").write_text("1\tcats\n", "utf-8")
    index = "-collection JsonCollection -input documents -index lucene"
    index = f"IndexCollection {index} -generator DefaultLuceneDocumentGenerator"
    search = "SearchCollection -bm25 -rm3 -index lucene -topics topics.tsv -output run.txt"
    search = f"{search} -topicReader TsvString"
    loaded: set[str] = set()
    for package, command in (("index", index), ("search", search)):
        words = f"io.anserini.{package}.{command} -threads 1".split()
        _do([*java, "-XX:DumpLoadedClassList=classes", "-cp", str(jar), *words], folder)
        lines = (folder / "classes").read_text("utf-8").splitlines()
        loaded |= {line.split()[0] for line in lines if line[:1].isalpha()}
    (folder / "classes").write_text("\n".join(sorted(loaded)) + "\n", "utf-8")
    told = ["-Xshare:dump", "-XX:SharedClassListFile=classes", "-XX:SharedArchiveFile=made.jsa"]
    _do([*java, *told, "-cp", str(jar)], folder)
    return folder / "made.jsa"


def _do(command: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if "JAVA" not in name}
    subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, timeout=LONGEST
    )

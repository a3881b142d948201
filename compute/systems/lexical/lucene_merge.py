"""Merge Lucene indexes into one: `python lucene_merge.py JAR HEAP TARGET PIECE…`. Their files are
copied rather than reindexed; since nothing in a piece depends on the others, the statistics are
those of all documents. The script runs in its own process, because a process keeps its JVM
forever."""

import sys
from typing import Any


def main(jar: str, heap: str, target: str, *pieces: str) -> None:
    """Write an index of the documents of all pieces to the folder `target`."""
    import jnius_config

    jnius_config.add_classpath(jar)
    jnius_config.add_options(f"-Xmx{heap}")
    from jnius import autoclass

    def opened(folder: str) -> Any:
        file = autoclass("java.io.File")(folder)
        return autoclass("org.apache.lucene.store.FSDirectory").open(file.toPath())

    config = autoclass("org.apache.lucene.index.IndexWriterConfig")()
    # CREATE overwrites the remains of an interrupted merge.
    config.setOpenMode(autoclass("org.apache.lucene.index.IndexWriterConfig$OpenMode").CREATE)
    writer = autoclass("org.apache.lucene.index.IndexWriter")(opened(target), config)
    writer.addIndexes(*map(opened, pieces))
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

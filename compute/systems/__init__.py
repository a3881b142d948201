"""Systems that search a corpus. Importing them does not load torch, faiss or Java."""

from compute.systems.catalogue import DOCUMENTED, REFERENCE, SYSTEMS, System, catalogue
from compute.systems.families import (
    FAMILIES,
    from_outside,
    learnt_from,
    reads_a_folder,
    rows_behind,
    system,
)
from compute.systems.searcher import Combiner, Progress, Searcher

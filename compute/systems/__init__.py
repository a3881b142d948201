"""Systems that search a corpus. Importing this room loads neither torch nor faiss nor Java."""

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

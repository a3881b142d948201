"""The systems that search a collection. Importing them loads no torch, no faiss and no Java."""

from compute.systems.catalogue import SYSTEMS, System, catalogue, system
from compute.systems.searcher import Progress, Searcher

__all__ = ["SYSTEMS", "Progress", "Searcher", "System", "catalogue", "system"]

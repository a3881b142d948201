"""A static site of what is stored: pages, scripts and data that need no server and no network."""

from compute.exports.site.asking import Wanted
from compute.exports.site.writing import write

__all__ = ["Wanted", "write"]

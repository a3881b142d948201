"""A static site of what is stored: pages, scripts and data that need no server and no network."""

from compute.exports.site.writing import Wanted, write

__all__ = ["Wanted", "write"]

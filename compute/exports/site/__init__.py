"""A static site of stored results: pages, scripts and data that need neither server nor network."""

from compute.exports.site.asking import Wanted
from compute.exports.site.writing import write

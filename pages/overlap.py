"""Overlap: how similar are the corpora, and does it matter for a system?"""

from compute.views.overlap.page import page
from pages._overlap import counting
from pages._shared import renderer

renderer.page("Overlap", page, {"count": counting.offer})

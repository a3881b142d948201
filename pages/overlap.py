"""Overlap: how similar are corpora, and does it matter to a system?"""

from compute.views.overlap.page import page
from pages._overlap import counting
from pages._shared import renderer

renderer.page("Overlap", page, {"count": counting.offer})

"""Lengths: which systems prefer short documents?"""

from compute.views.lengths.page import page
from pages._shared import renderer

renderer.page("Lengths", page)

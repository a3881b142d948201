"""Efficiency: what does quality cost in time and in space?"""

from compute.views.efficiency.page import page
from pages._shared import renderer

renderer.page("Efficiency", page)

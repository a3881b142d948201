"""Efficiency: what does quality cost in time and space?"""

from compute.views.efficiency.page import page
from pages._shared import renderer

renderer.page("Efficiency", page)

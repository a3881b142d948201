"""How numbers are computed: the definition and origin of every number."""

from compute.views.about.page import page
from pages._shared import renderer

renderer.page("How numbers are computed", page)

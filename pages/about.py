"""About the numbers: what every number here means, and where it comes from."""

from compute.views.about.page import page
from pages._shared import renderer

renderer.page("About the numbers", page)

"""Holes: how many documents are unjudged, and could they flip the ranking?"""

from compute.views.holes.page import page
from pages._frame import added_switch
from pages._holes import settling
from pages._shared import extending, renderer

renderer.page(
    "Holes",
    page,
    {"added": added_switch.download, "settle": settling.settle, "draw": extending.draw},
)

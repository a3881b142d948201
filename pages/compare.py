"""Compare: two systems, query by query, on one dataset or on all datasets."""

from compute.views.compare.page import page
from pages._compare import fusions, judging
from pages._shared import extending, renderer

renderer.page(
    "Compare", page, {"store": fusions.store, "apart": judging.apart, "draw": extending.draw}
)

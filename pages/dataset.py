"""Dataset: everything about one dataset."""

from compute.views.dataset.page import page
from pages._shared import renderer, texts

renderer.page("Dataset", page, {"texts": texts.bring})

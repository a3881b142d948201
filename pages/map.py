"""Map: all queries of a run at once, with ranks as columns, coloured by relevance."""

from compute.views.query.map_page import page
from pages._shared import renderer, texts

renderer.page("Map", page, {"texts": texts.bring})

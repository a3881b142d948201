"""Query: ranked lists of up to four systems side by side, with texts and judgements."""

from compute.views.query.page import page
from pages._query import judging, reasons
from pages._shared import renderer, texts

forms = {"texts": texts.bring, "judge": judging.hole, "in_view": judging.in_view}
forms |= {"reasons": reasons.buttons}
renderer.page("Query", page, forms)

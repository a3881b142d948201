"""What this test would have found, beside what it did not; a difference that the reader names."""

from streamlit.delta_generator import DeltaGenerator

from compute.views.compare import power
from compute.views.compare.power import Plan
from pages._shared import drawing, pickers


def section(place: DeltaGenerator, plan: Plan) -> None:
    """The smallest difference that would have been found, and the queries for another."""
    with place:
        told = power.found(plan)
        drawing.caption(*told)
        if told == [power.TOO_FEW]:
            return
        with pickers.pickers():
            difference = pickers.number(
                "Queries needed to find a difference of", "find", example=".02", width=290
            )
            if difference is not None:
                drawing.caption(*power.needed(plan, difference))

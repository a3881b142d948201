"""SELECTs on the training of trained systems."""

from compute.reading.questions import select


@select()
def curve(*, system: str) -> str:
    """step, name, value: the losses of a trained system, by step."""
    return """
        select step, name, value from training where system = $system order by step, name
    """

"""SELECT on the training of systems."""

from compute.reading.questions import select


@select()
def curve(*, system: str) -> str:
    """Select step, name and value of a trained system's losses, by step."""
    return """
        select step, name, value from training where system = $system order by step, name
    """

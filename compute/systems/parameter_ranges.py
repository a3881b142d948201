"""The ranges of parameters: what is outside is refused in one sentence."""

from compute.base.errors import WrongInput


def at_least(method: object, parameter: str, low: float) -> None:
    """Raises WrongInput unless the parameter is `low` or more."""
    if getattr(method, parameter) < low:
        raise WrongInput(f"{parameter} is {getattr(method, parameter)}; it must be {low} or more")


def between(method: object, parameter: str, low: float, high: float) -> None:
    """Raises WrongInput unless the parameter lies from `low` to `high`."""
    value = getattr(method, parameter)
    if not low <= value <= high:
        raise WrongInput(f"{parameter} is {value}; it must lie from {low} to {high}")

"""The command that prints means of systems: scores."""

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands import groups, options
from compute.commands.opening import open_whole
from compute.commands.show.stored import in_print, values


def scores(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: options.OnlyMeasure = "",
    published: options.Published = False,
    returned_only: options.ReturnedOnly = False,
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Print the mean score of each system on each dataset, computed or published."""
    chosen = {"dataset": dataset, "system": system, "measure": measure}
    if not published:
        frame = values(open_whole(), judged, chosen, returned_only=returned_only)
        return printable.show(frame, json)
    if judged.judgements != options.OFFICIAL:
        raise WrongInput("--judgements is for computed scores: leave it out, or --published")
    return printable.show(in_print(open_whole(), chosen), json)

"""The scores command, which prints mean scores of systems."""

from compute.base import printable
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
    if published:
        return printable.show(in_print(judged, chosen), json)
    frame = values(open_whole(), judged, chosen, returned_only=returned_only)
    return printable.show(frame, json)

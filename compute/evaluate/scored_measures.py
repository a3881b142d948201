"""The measures by which a run is scored: the default measures, and additional ones. Scores by
additional measures are stored with the others in one part, whose fingerprint includes the names of
these measures. Without additional measures, the fingerprint is the same as before they existed."""

from collections.abc import Iterable
from dataclasses import replace

from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.evaluate import subtopics
from compute.evaluate.measures import MEASURES, Measure, parse
from compute.store.loading import Loaded
from compute.store.store import Part


def scores_name(hits: str, loaded: Loaded, depth: int, more: Iterable[str] = ()) -> str:
    """Return the fingerprint of the scores of hits (by fingerprint) on a dataset's judgements."""
    inputs = [hits, loaded.judgements.fingerprint]
    measures = [*MEASURES, *sorted(more)]
    return fingerprint("scores", inputs, measures=measures, depth=depth)


def more_of(scores: Part | None) -> list[str]:
    """Return the measures besides MEASURES by which a run was scored."""
    return list(scores.provenance.get("more_measures", ())) if scores else []


def recorded(more: Iterable[str]) -> dict[str, list[str]]:
    """Return the entries for measures besides MEASURES in the provenance of scores."""
    names = list(more)
    return {"more_measures": names} if names else {}


def is_current(scores: Part, hits: Part, further: Part | None, loaded: Loaded) -> bool:
    """Return whether `scores` are up to date with the hits, those of further runs (if any) and the
    judgements, by whatever measures they were scored."""
    depth, of = hits.provenance["depth"], (further or hits).fingerprint
    return scores.fingerprint == scores_name(of, loaded, depth, more_of(scores))


def more(*named: Iterable[str]) -> list[str]:
    """Return the named measures that are not scored by default. Raises WrongInput if unknown."""
    names = dict.fromkeys(str(parse(name)) for names in named for name in names)
    return [name for name in names if name not in MEASURES]


def of_dataset(loaded: Loaded) -> list[str]:
    """Return the measures besides MEASURES by which every run on a dataset is scored: those with
    its relevance level, if it is above 1, and subtopic measures if there are subtopics."""
    diverse = subtopics.MEASURES if loaded.subtopics else ()
    return [*at_level(MEASURES, loaded.dataset.level), *diverse]


def at_level(names: Iterable[str], level: int) -> list[str]:
    """Return the named measures with this lowest relevant grade; none for level 1."""
    asking = [of for of in map(parse, names) if of.formula.takes == ("rel",) and level > 1]
    return [str(replace(of, rel=level)) for of in asking]


def possible(names: Iterable[str], hits: Part, loaded: Loaded) -> list[str]:
    """Return the measures that the depth of the stored hits and the judgements allow."""
    measures = {name: parse(name) for name in names}
    return [name for name, of in measures.items() if reaches(of, hits) and allows(of, loaded)]


def allows(measure: Measure, loaded: Loaded) -> bool:
    """Return whether the judgements contain what a measure needs."""
    return loaded.subtopics is not None or not measure.formula.diverse


def of_settings(settings: Settings) -> list[str]:
    """Return the measures that the settings add. Raises WrongInput, which names the setting."""
    try:
        return more(settings.measures)
    except WrongInput as error:
        raise WrongInput(f"the setting measures: {error}") from None


def offered(settings: Settings, parts: Iterable[Part]) -> list[str]:
    """Return all measures for which scores may exist: MEASURES, then additional ones by name."""
    stored = (more_of(part) for part in parts if part.kind == "scores")
    return [*MEASURES, *sorted({*of_settings(settings), *(one for of in stored for one in of)})]


def kept(hits: Part) -> int:
    """Return the depth of the stored hits. It can be less than that of the scored run, since
    shipped runs were truncated after scoring."""
    return hits.provenance.get("cut", hits.provenance.get("depth", 0))


def reaches(measure: Measure, hits: Part) -> bool:
    """Return whether stored hits are deep enough for a measure. A measure without a cut-off needs
    the full depth of the scored run."""
    return (measure.k or hits.provenance.get("depth", 1)) <= kept(hits)

"""Where an added judgement comes from: the values of the column `source`."""

from collections.abc import Mapping

PERSON = "person"
ADJUDICATION = "adjudication"
IMPORT = "import"
MODEL = "model"
WITHDRAWN = "withdrawn"

SOURCES: Mapping[str, str] = {
    PERSON: "people who judged here",
    ADJUDICATION: "settled disagreements",
    IMPORT: "imported files",
    MODEL: "language models",
}
"""What may be counted, and what pages call it; `withdrawn` marks a row that takes one back."""
HUMAN = (PERSON, ADJUDICATION)
"""What counts when nothing else is chosen."""
IN_VIEW = "query-page"
"""The task of judgements given on the page Query, with systems and ranks in view: not blind."""

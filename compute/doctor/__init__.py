"""The import doctor: what files hold, each trouble in them, and what an import does about it."""

from compute.doctor.checking import check, check_all, files
from compute.doctor.importing import changing
from compute.doctor.judged import Twins, exchanged
from compute.doctor.known import Known, known, pairs
from compute.doctor.report import Finding, Kind, Report, Where

__all__ = [
    "Finding",
    "Kind",
    "Known",
    "Report",
    "Twins",
    "Where",
    "changing",
    "check",
    "check_all",
    "exchanged",
    "files",
    "known",
    "pairs",
]

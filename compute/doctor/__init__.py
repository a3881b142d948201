"""The import doctor: what files hold, each trouble in them, and what an import does about it."""

from compute.doctor.checking import check, check_all, files
from compute.doctor.known import Known, known
from compute.doctor.report import Finding, Kind, Report, Where

__all__ = ["Finding", "Kind", "Known", "Report", "Where", "check", "check_all", "files", "known"]

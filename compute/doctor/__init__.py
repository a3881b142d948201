"""The import doctor: what files hold, each trouble in them, and what an import does about it."""

from compute.doctor.report import Finding, Report, check

__all__ = ["Finding", "Report", "check"]

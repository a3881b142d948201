"""The import doctor: what files contain, their faults, and how an import treats each fault."""

from compute.intake.doctor.checking import check, check_all, files
from compute.intake.doctor.ids import nearest
from compute.intake.doctor.judged_hits import Twins, exchanged
from compute.intake.doctor.known import Known, known, pairs
from compute.intake.doctor.remarks import changing, ordered, strangers
from compute.intake.doctor.report import Finding, Report, Tally, Where

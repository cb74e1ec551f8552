"""The size of a validation study: for precision by next_study.tsv, and for calibration."""

from __future__ import annotations

from typing import NamedTuple

from genesig.report.page.record import Study
from genesig.report.page.tables import TableRow, table_rows

MIN_CALIBRATION_PATIENTS = 100  # of each class, or with the event


class ValidationSize(NamedTuple):
    """Patients of a validation study."""

    precise: TableRow  # the largest row of next_study.tsv
    calibration: int  # patients among whom calibration can be checked; 0 for a number

    @property
    def samples(self) -> int:
        """Return the number of patients that is enough for both."""
        return max(int(self.precise["samples"]), self.calibration)


def validation_size(data: Study) -> ValidationSize | None:
    """Return the size if classes, or events, are as frequent as in this study; None if unknown."""
    rows = [row for row in table_rows(data["tables"]["next_study"]) if row["samples"]]
    if not rows:
        return None
    precise = max(rows, key=lambda row: row["samples"])
    counts = data["study"]["counts"]
    total = sum(counts) if counts else precise["samples"]
    rarest = min(counts) if counts else precise["events"]
    # Rounded up, without the errors of a division.
    return ValidationSize(precise, -(-MIN_CALIBRATION_PATIENTS * total // rarest) if rarest else 0)

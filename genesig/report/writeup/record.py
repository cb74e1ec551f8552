"""What the write-up reads of report_data.json."""

from __future__ import annotations

from genesig.report.page.record import Study


class Writeup(Study):
    """What every topic may read, and the warnings, which are limits of the study."""

    warnings: list[str]

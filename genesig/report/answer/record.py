"""What the first screen reads of report_data.json."""

from __future__ import annotations

from genesig.report.page.record import Study


class Answer(Study):
    """Nothing but what every topic may read."""

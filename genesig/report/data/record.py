"""What the topic of the data reads of report_data.json."""

from __future__ import annotations

from genesig.report.page.record import Study


class Data(Study):
    """Nothing but what every topic may read."""

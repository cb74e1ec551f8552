"""The sections of the write-up, but for Methods, which all topics write together."""

from __future__ import annotations

from genesig.report.page.columns import Column
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import filled_table
from genesig.report.writeup.record import Writeup
from genesig.report.writeup.results import results
from genesig.report.writeup.tripod import OPEN, checklist


def results_paragraph(data: Writeup, limits: Limits) -> Section:
    """Show the Results paragraph."""
    return Section("results", "Results paragraph", results(data), part="writeup", folded=True)


def limitations(data: Writeup, limits: Limits) -> Section:
    """Show what a Limitations paragraph has to say."""
    words = [limits_words(data)]
    return Section("limits", "Limits", words, part="writeup")


def limits_words(data: Writeup) -> str:
    """Return the limits of the study: of its error, of its batches, and its warnings."""
    cohorts = data["answer"]["cohorts"]
    said = [
        "The error is that of the procedure; the signature itself was tested only in other cohorts."
        if cohorts["tested"]
        else "The error is that of the procedure; the signature itself has not been tested in an"
        " independent cohort."
    ]
    if data["batch"] is None:
        said.append("No batches were named, so their influence was not assessed.")
    warned = (one if one.endswith(".") else f"{one}." for one in data["warnings"])
    return " ".join([*said, *warned])


def tripod(data: Writeup, limits: Limits) -> Section:
    """Show the checklist."""
    rows = checklist(data)
    columns = [Column("Item", "name"), Column("Asks for", "text"), Column("This run", "text")]
    left = sum(row[-1] == OPEN for row in rows)
    words = [f"The run fills in {len(rows) - left} of {len(rows)} items; {left} are for you."]
    caption = "TRIPOD+AI checklist (Collins et al. 2024), in short words."
    table = filled_table("tripod", caption, columns, rows, len(rows))
    return Section("tripod", "TRIPOD+AI checklist", words, [table], part="writeup", folded=True)

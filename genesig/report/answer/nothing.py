"""Where there is no evidence: what was looked for, what could have been found, what comes next."""

from __future__ import annotations

from genesig.report.answer.record import Answer
from genesig.report.page.measure import measure
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import counted, decimal, rate
from genesig.selection.assess.detectable import POWER, SOUGHT


def nothing_found(data: Answer) -> list[str]:
    """Say what was looked for, what would have been found, and what to do; else nothing."""
    if grade(data) is not Grade.NONE:
        return []
    return [_sought(data), _findable(data), _next(data)]


def _sought(data: Answer) -> str:
    it = data["study"]
    return (
        f"Looked for: {counted(it['genes'], 'gene')} in {counted(it['samples'], 'sample')}, alone"
        " and together, in models whose every choice was made without the samples that tested it."
        " No genes are shown, because none of them can be told from chance; the tables beside this"
        " page have every number."
    )


def _findable(data: Answer) -> str:
    """Say which error, AUC and effect of a gene would have been told from chance."""
    it, shown = data["answer"]["detectable"], measure(data)
    said = []
    if it["error"] is not None:
        write = rate if data["study"]["classes"] else decimal
        side = "below" if shown.better == "smaller" else "above"
        said.append(f"a {shown.name} {side} {write(shown.value(it['error']))}")
    power = f"{100 * POWER:.0f}\u00a0%"
    if it["auc"] is not None:
        said.append(f"with a probability of {power}, a score of AUC {decimal(it['auc'])}")
    if it["effect"] is not None:
        unit = " standard deviations between the classes" if data["study"]["classes"] else ""
        what = "a difference of" if data["study"]["classes"] else "a correlation of"
        said.append(f"a single gene with {what} {decimal(it['effect'], 1 + (not unit))}{unit}")
    if not said:
        return "What could have been found is not known: too few permutations were run."
    return f"Would have been told from chance: {'; '.join(said)}. Smaller effects may exist."


def _next(data: Answer) -> str:
    it, counts = data["answer"]["detectable"], data["study"]["counts"]
    said = ["look at the quality of the samples, and whether batches go with the response"]
    if it["auc"] is not None and counts is not None and min(counts) < it["per_class"]:
        said.append(
            f"an AUC of {SOUGHT:g} needs about {it['per_class']} tested samples of each class"
            f" (here {counts[0]} and {counts[1]})"
        )
    elif data["study"]["classes"] is None:
        said.append("effects of half the size need about four times as many samples")
    if data["config"].get("structured", {}).get("sets") is None:
        said.append("gene sets can find many weak genes together")
    return f"Next: {'; '.join(said)}."

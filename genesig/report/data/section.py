"""Sections about the data, the methods and how to repeat the study."""

from __future__ import annotations

import json
from typing import Any

from genesig.report.data.batches import batch_fact, batch_table, batch_words
from genesig.report.methods import methods, references
from genesig.report.page.section import Facts, Fold, Limits, Section
from genesig.report.page.tables import Column, Table, cell
from genesig.report.page.words import by_kind, clean, counted, significant

Data = dict[str, Any]


def study(data: Data, limits: Limits) -> Section:
    """Say what went in, what was left out and why, how the samples were divided."""
    dropped = data["study"]["dropped"]
    words = ["Nothing was left out: every sample and every gene of the input was used."]
    if dropped:
        words = [f"Left out before the analysis: {by_kind(dropped)}. Every one is counted here."]
    words += batch_words(data)
    items: list[Any] = [Facts("study", "Study", _facts(data)), *batch_table(data, limits)]
    if dropped:
        items.append(_dropped(dropped, limits))
    return Section("data", "Data and design", words, items)


def _facts(data: Data) -> list[tuple[str, str]]:
    it, design = data["study"], data["design"]
    classes = it["classes"]
    if classes:
        sizes = ", ".join(f"{clean(c)} {n}" for c, n in zip(classes, it["counts"], strict=True))
        label = f"{clean(it['label'])}: {sizes} (a positive score means {clean(classes[1])})"
    else:
        label = f"{clean(it['label'])} (a number)"
    pairs = [
        ("Samples", counted(it["samples"], "sample")),
        ("Genes", counted(it["genes"], "gene")),
        ("Label", label),
        ("Groups", f"{clean(it['group'])}: {it['groups']} kept whole" if it["group"] else ""),
        ("Pairs", clean(it["pair"]) if it["pair"] else ""),
        ("Batches", batch_fact(data)),
        ("Steps before splitting", ", ".join(map(_step, it["steps"])) or "none"),
        ("Outer splits", _outer(design)),
        ("Inner folds", _inner(design)),
        ("Half-subsamples", str(design["subsamples"])),
    ]
    return [(name, value) for name, value in pairs if value]


def _step(step: Any) -> str:
    return clean(step["step"] if isinstance(step, dict) else step)


def _outer(design: Data) -> str:
    train, test = (_range(design[side]) for side in ("train", "test"))
    scheme = clean(design["scheme"]).replace("_", " ")
    repeats = f" in {counted(design['repeats'], 'repeat')}" if design["repeats"] > 1 else ""
    return (
        f"{counted(design['outer'], 'split')}{repeats} ({scheme}); {train} samples train, {test}"
        f" {'is' if test == '1' else 'are'} held out"
    )


def _inner(design: Data) -> str:
    return f"{_range(design['inner'])} ({clean(design['inner_scheme']).replace('_', ' ')})"


def _range(ends: list[int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _dropped(dropped: list[Data], limits: Limits) -> Table:
    columns = [Column("What", "text"), Column("Reason", "text"), Column("How many", "integer"),
               Column("Which", "text")]  # fmt: skip
    rows = [
        [cell(value, column.kind) for value, column in zip(
            (one["kind"], one["reason"], one["count"], _names(one)), columns, strict=True)]
        for one in dropped[: limits.table_rows]
    ]  # fmt: skip
    caption = f"Left out: {by_kind(dropped)}."
    return Table("dropped", caption, columns, rows, len(dropped))


def _names(one: Data) -> str:
    names = ", ".join(clean(name) for name in one["names"])
    return names + (" …" if one["count"] > len(one["names"]) else "")


def methods_section(data: Data, limits: Limits) -> Section:
    """Write the Methods paragraph."""
    words = [
        "Written from the settings of this run, to be copied and edited.",
        *methods(data),
    ]
    return Section("methods", "Methods", words, [Fold("References", "\n".join(references(data)))])


def reproducibility(data: Data, limits: Limits) -> Section:
    """List seed, versions, inputs, times, resolved config."""
    run = data["run"]
    pairs = [("Seed", clean(data["config"].get("seed", "")))]
    pairs += [(f"Version of {clean(k)}", clean(v)) for k, v in run.get("versions", {}).items()]
    pairs += [(f"sha256 of {clean(k)}", clean(v)) for k, v in data["study"]["inputs"].items()]
    config = json.dumps(data["config"], indent=2, ensure_ascii=False)
    words = [
        "With the same inputs, settings and versions, the same figures come out, whatever the"
        " number of cores."
    ]
    items: list[Any] = [Facts("run", "Run", pairs)]
    if run.get("times"):
        items.append(_times(run["times"], limits))
    items.append(Fold("Settings, with all defaults", config))
    return Section("reproducibility", "Reproducibility", words, items)


def _times(times: Data, limits: Limits) -> Table:
    memory = Column("Memory, MB", "count", "Largest; jobs of a moment have no reading")
    columns = [Column("Job", "name"), Column("Seconds", "count"), memory]
    rows = [
        [cell(value, column.kind) for value, column in zip(
            (job, cost["seconds"], cost["memory_mb"]), columns, strict=True)]
        for job, cost in times.items()
    ]  # fmt: skip
    total = significant(sum(cost["seconds"] or 0 for cost in times.values()))
    caption = f"Time and memory of each job; {total} seconds in all."
    return Table("times", caption, columns, rows[: limits.table_rows], len(rows), search=True)

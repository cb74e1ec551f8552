"""Sections about the data and how to repeat the study."""

from __future__ import annotations

import json
from typing import Any

from genesig.data.study.kind import not_offered
from genesig.report.data.methods import by_class
from genesig.report.data.record import Data
from genesig.report.data.section_batches import batch_fact, batch_table, batch_words
from genesig.report.page.columns import Column
from genesig.report.page.measure import measure
from genesig.report.page.record import Division, Dropped
from genesig.report.page.section import Facts, Fold, Item, Limits, Section
from genesig.report.page.sides import two
from genesig.report.page.tables import Table, filled_table
from genesig.report.page.words import by_kind, clean, counted


def study(data: Data, limits: Limits) -> Section:
    """Say what went in, what was left out and why, how the samples were divided."""
    dropped = data["study"]["dropped"]
    samples, genes = counted(data["study"]["samples"], "sample"), data["study"]["genes"]
    words = [
        f"All {samples} and {counted(genes, 'gene')} in the input were analysed; none was excluded."
    ]
    if dropped:
        words = [f"Excluded before the analysis: {by_kind(dropped)}, each with its reason."]
    words += batch_words(data)
    items: list[Item] = [Facts("study", "Study", _facts(data)), *batch_table(data, limits)]
    if dropped:
        items.append(_dropped(dropped, limits))
    return Section("data", "Data and design", words, items)


def _facts(data: Data) -> list[tuple[str, str]]:
    it, design = data["study"], data["design"]
    classes = it["classes"]
    if classes:
        sizes = ", ".join(f"{clean(c)} {n}" for c, n in by_class(it))
        positive = f" (a positive score means {clean(classes[1])})" if two(it) else ""
        label = f"{clean(it['label'])}: {sizes}{positive}"
    else:
        label = f"{clean(it['label'])} ({measure(data).words.outcome})"
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
        ("Not applied", not_offered(it["task"], data["config"].get("data", {}))),
    ]
    return [(name, value) for name, value in pairs if value]


def _step(step: Any) -> str:
    return clean(step["step"] if isinstance(step, dict) else step)


def _outer(design: Division) -> str:
    train, test = (_range(design[side]) for side in ("train", "test"))
    scheme = clean(design["scheme"]).replace("_", " ")
    repeats = f" in {counted(design['repeats'], 'repeat')}" if design["repeats"] > 1 else ""
    return (
        f"{counted(design['outer'], 'split')}{repeats} ({scheme}; {train} training and {test} test"
        " samples each)"
    )


def _inner(design: Division) -> str:
    return f"{_range(design['inner'])} ({clean(design['inner_scheme']).replace('_', ' ')})"


def _range(ends: list[int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _dropped(dropped: list[Dropped], limits: Limits) -> Table:
    columns = [Column("What", "text"), Column("Reason", "text"), Column("How many", "integer"),
               Column("Which", "text")]  # fmt: skip
    rows = [(one["kind"], one["reason"], one["count"], _names(one)) for one in dropped]
    caption = f"Left out: {by_kind(dropped)}."
    return filled_table("dropped", caption, columns, rows, limits.table_rows)


def _names(one: Dropped) -> str:
    names = ", ".join(clean(name) for name in one["names"])
    return names + (" …" if one["count"] > len(one["names"]) else "")


def reproducibility(data: Data, limits: Limits) -> Section:
    """List seed, versions, inputs and the resolved config."""
    pairs = [("Seed", clean(data["config"].get("seed", "")))]
    pairs += [(f"Version of {clean(k)}", clean(v)) for k, v in data["run"]["versions"].items()]
    pairs += [(f"sha256 of {clean(k)}", clean(v)) for k, v in data["study"]["inputs"].items()]
    config = json.dumps(data["config"], indent=2, ensure_ascii=False)
    words = [
        "The same inputs, settings and software versions give identical results on any number of"
        " cores.",
        "Seconds and memory of each job are in times/jobs.tsv.",
    ]
    settings = Fold("Settings, with all defaults", config, "settings")
    items: list[Item] = [Facts("run", "Run", pairs), settings]
    return Section("reproducibility", "Reproducibility", words, items, part="writeup", folded=True)

"""What went in, how it was divided, and its batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.combat import MIN_TRAINING_SAMPLES_OF_BATCH
from genesig.data.steps.missing_indicators import count_indicators
from genesig.data.study.config_check import not_offered
from genesig.data.study.confounding import strongest
from genesig.report.page.measure import codes, measure, subject, two
from genesig.report.page.record import (
    MOST_SAMPLES,
    Batch,
    Division,
    Dropped,
    HeldOut,
    HeldOutSample,
    Study,
    StudyFacts,
    plain,
    rounded,
    spread,
)
from genesig.report.page.section import Facts, Item, Limits, Section
from genesig.report.page.tables import Column, Table, filled_table
from genesig.report.page.words import (
    both,
    by_kind,
    clean,
    counted,
    decimal,
    percent,
    scheme_words,
    significant,
)

if TYPE_CHECKING:
    from genesig.results import Dataset, Splits


MOST_NAMES = 30
FEW = 5  # batches, below which t on so few degrees of freedom makes the interval very wide


def collect_study(dataset: Dataset) -> StudyFacts:
    """Say what was studied and what was left out, with its reason."""
    design, notes = dataset.design, dataset.provenance
    y, kept = dataset.plain(), spread(len(dataset.samples), MOST_SAMPLES)
    of_class = None if design.classes is None else [y == s for s in codes(design.classes)]
    groups = dataset.groups()
    unit = np.arange(len(y)) if groups is None else groups
    return {
        "label": design.label,
        "task": design.kind,
        "classes": plain(design.classes),
        "counts": None if of_class is None else [int(rows.sum()) for rows in of_class],
        "units": None if of_class is None else [len(set(unit[rows])) for rows in of_class],
        "group": design.group,
        "pair": design.pair,
        "groups": None if groups is None else len(set(groups)),
        "exchanged": _exchanged(dataset),
        "samples": len(dataset.samples),
        "genes": len(dataset.genes) - (added := count_indicators(dataset)),
        "indicators": added,
        "missing": int(np.isnan(dataset.X).sum()),
        "inputs": plain(notes.get("inputs", {})),
        "steps": plain(notes.get("steps", [])),
        "dropped": _by_reason(notes.get("dropped", [])),
        "response": {
            "name": [dataset.samples[row] for row in kept],
            "value": rounded(y[kept], 5),
        },
    }


def _association(dataset: Dataset, names: Any) -> float | None:
    numbers = dataset.kind.number(dataset.response())
    return strongest(numbers.reshape(len(names), -1), names)


def _exchanged(dataset: Dataset) -> str:
    groups = dataset.groups()
    if groups is None:
        return "samples"
    y = dataset.plain()
    several = [np.ptp(y[groups == group]) > 0 for group in set(groups)]
    return "within" if all(several) else "both" if any(several) else "groups"


def _by_reason(dropped: list[dict[str, Any]]) -> list[Dropped]:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in dropped:
        groups.setdefault((str(one["kind"]), str(one["reason"])), []).append(str(one["name"]))
    return [
        {"kind": kind, "reason": reason, "count": len(names), "names": names[:MOST_NAMES]}
        for (kind, reason), names in groups.items()
    ]


def design(splits: Splits) -> Division:
    """Say how the samples were divided."""
    train, test = ([len(getattr(s, side)) for s in splits.outer] for side in ("train", "test"))
    inner = [len(s.inner) for s in splits.outer]
    return {
        "scheme": splits.scheme,
        "inner_scheme": splits.inner_scheme,
        "seed": splits.seed,
        "outer": len(splits.outer),
        "repeats": len({split.repeat for split in splits.outer}),
        "inner": [min(inner), max(inner)],
        "subsamples": len(splits.subsamples),
        "train": [min(train), max(train)],
        "test": [min(test), max(test)],
    }


def batch(
    dataset: Dataset, splits: Splits, held_out: HeldOut, config: Mapping[str, Any]
) -> Batch | None:
    """Sum the batches up; None for a study that names none."""
    names, column = dataset.batches(), dataset.design.batch
    if names is None or column is None:
        return None
    y, classes = dataset.plain(), dataset.design.classes
    each = [names == name for name in sorted(set(names))]
    of = dict(zip(dataset.samples, names, strict=True))
    few = [_too_few(split.train, split.test, of) for split in splits.outer]
    return {
        "column": column,
        "names": sorted(set(names)),
        "sizes": [int(rows.sum()) for rows in each],
        "counts": [[int((y[rows] == s).sum()) for s in codes(classes)] for rows in each]
        if classes else None,
        "mean": None if classes else [rounded(y[rows].mean(), 4) for rows in each],
        "sd": None if classes else [rounded(y[rows].std(), 4) for rows in each],
        "association": rounded(_association(dataset, names), 4),
        "wrong": _wrong(held_out["samples"], of, sorted(set(names))),
        "combat": "combat" in [step["step"] for step in config["normalise"]["folds"]],
        "shown": "combat" in [s["step"] for s in dataset.provenance.get("summaries", [])],
        "held_out": sum(len(split.test) for split in splits.outer),
        "too_few": sum(few),
        "splits": sum(number > 0 for number in few),
    }  # fmt: skip


def _too_few(train: Sequence[str], test: Sequence[str], of: Mapping[str, str]) -> int:
    """Count the test samples whose batch has too few training samples to be estimated."""
    trained = Counter(of[name] for name in train)
    return sum(trained[of[name]] < MIN_TRAINING_SAMPLES_OF_BATCH for name in test)


def _wrong(
    samples: Sequence[HeldOutSample], of: Mapping[str, str], names: Sequence[str]
) -> list[float | None] | None:
    """Return the share of wrong decisions on each batch's samples while they were held out."""
    if any(one["wrong"] is None for one in samples):
        return None
    shares = []
    for name in names:
        own = [one for one in samples if of[one["sample"]] == name]
        wrong = sum(one["wrong"] or 0 for one in own)
        tested = sum(one["tested"] for one in own)
        shares.append(rounded(wrong / tested, 4) if tested else None)
    return shares


def batch_warnings(data: Study) -> list[str]:
    """Say how many held-out samples a correction could not reach, and of few batches left out."""
    it = data["batch"]
    if it is None:
        return []
    found = []
    if data["design"]["scheme"] == "leave_one_batch_out" and len(it["names"]) < FEW:
        found.append(
            f"Only {len(it['names'])} batches were left out in turn. The interval of the error is"
            " over batches, so it is wide: so few say little of a batch that is yet to come."
        )
    if not it["combat"] or not it["too_few"]:
        return found
    return [
        *found,
        f"In {counted(it['splits'], 'split')} of {data['design']['outer']} ComBat left held-out"
        f" samples as measured ({it['too_few']} of {it['held_out']} in all), because their batch"
        f" had fewer than {MIN_TRAINING_SAMPLES_OF_BATCH} training samples.",
    ]


def batch_fact(data: Study) -> str:
    """Return ``"3 batches (centre; Cramér's V with the label 0.21)"``; empty without batches."""
    it = data["batch"]
    if it is None:
        return ""
    named = clean(it["column"])
    return f"{counted(len(it['names']), 'batch')} ({named}; {_measured(it)})"


def _measured(it: Batch) -> str:
    """Return the association in words."""
    value = it["association"]
    if value is None:
        return "association with the label not defined"
    if it["counts"]:
        return f"Cramér's V with the label {decimal(value)}"
    return f"{percent(value**2)} of the label's variance lies between batches, beyond chance"


def batch_words(data: Study) -> list[str]:
    """Say what the table of batches is about."""
    it = data["batch"]
    if it is None:
        return []
    scale = " (0: none beyond chance; 1: one class in each batch)"
    if not data["study"]["classes"] or it["association"] is None:
        scale = ""
    words = (
        "The more a batch is associated with the label, the more of the prediction may rest on the"
        f" batch itself; here, {_measured(it)}{scale}."
    )
    if it["combat"] and it["too_few"]:
        words += (
            f" ComBat could not correct {it['too_few']} of {it['held_out']} held-out samples, whose"
            " batches had too few training samples."
        )
    elif it["combat"]:
        words += " ComBat corrected every held-out sample by estimates from training samples."
    if it["combat"] and not it["shown"]:
        words += (
            " The quality of the samples is shown before and after it; other pictures and"
            " single-gene tests show the values as they were before it."
        )
    return [words]


def batch_table(data: Study, limits: Limits) -> list[Table]:
    """Show how many samples of each class, or which responses, each batch has."""
    it = data["batch"]
    if it is None:
        return []
    label = clean(data["study"]["label"])
    columns = [Column("Batch", "name"), Column("Samples", "integer")]
    values: list[Sequence[Any]] = [it["names"], it["sizes"]]
    if it["counts"]:
        columns += [Column(clean(name), "integer") for name in data["study"]["classes"] or []]
        values += zip(*it["counts"], strict=True)
    if it["mean"] and it["sd"]:
        columns += [Column(f"Mean {label}", "number"), Column("Standard deviation", "number")]
        values += [it["mean"], it["sd"]]
    if it["wrong"] is not None:
        help_ = "Share of the decisions on the batch's samples while they were held out"
        columns.append(Column("Wrong while held out", "share", help_))
        values.append(it["wrong"])
    caption = f"Batches ({clean(it['column'])}) and {label}."
    rows = list(zip(*values, strict=True))
    return [filled_table("batches", caption, columns, rows, limits.table_rows)]


STEPS = {
    "log2": "values were cut to [{floor}, {ceiling}] and log2-transformed",
    "zeros_as_missing": "zeros were taken for missing values",
    "standardise_samples": "each sample was standardised over its genes",
    "rank_samples": "values were replaced by their ranks within the sample",
    "log_cpm": "counts became log2 of counts per million, {prior} added",
    "missing_indicators": "for each gene or omic with missing values a variable was added, 1 where"
    " it is missing and else 0, which counts as one of the genes",
    "rma_background": "the background of each array was taken off as in RMA",
    "segment": "each sample became a step function along every chromosome by total variation"
    " (Johnson 2013, J. Comput. Graph. Stat. 22:246; weight of a jump, in standard deviations of"
    " the sample's noise: {tau})",
    "knn_impute": "missing values became the mean of the {neighbours} nearest genes",
    "mean_impute": "missing values became the gene's mean",
    "left_censored": "missing values became the gene's quantile at {quantile}, as values too small"
    " to be measured",
    "half_minimum": "missing values became half the smallest value of the gene, as values too small"
    " to be measured",
    "size_factors": "counts were divided by size factors ({method}) against a reference of the"
    " training samples and log2-transformed, {prior} added",
    "vst": "counts were divided by size factors ({method}) and their variance stabilised by the"
    " trend of the dispersions (Anders & Huber 2010, Genome Biol. 11:R106)",
    "quantile": "each sample was given the mean distribution of the training samples",
    "median_polish": "probes were summed up to probe sets by median polish as in RMA, the probes'"
    " effects those of the training samples",
    "collapse": "of the columns of one gene one value was kept (rule {rule})",
    "combat": "batches were brought to one mean and one spread of each gene by ComBat (Johnson et"
    " al. 2007, Biostatistics 8:118), without the label in its design (covariates: {covariates})",
    "detection_filter": "genes above {above} in a share of {samples} of the training samples were"
    " kept",
    "variance_filter": "the {keep} share of genes with the largest variance was kept",
    "fold_filter": "genes with a max/min ratio above {above} were kept",
    "range_filter": "genes with a range above {above} were kept",
    "centre": "genes were centred",
    "unit_variance": "genes were scaled to unit variance",
}


def samples(data: Study) -> list[str]:
    """Say what was compared in how many samples and genes, and what was left out."""
    study = data["study"]
    text = f"Expression of {counted(study['genes'], 'gene')} in"
    if study["classes"] is None:
        text += f" {counted(study['samples'], 'sample')} was related to {subject(data)}"
    else:
        sizes = (f"{clean(c)}, n = {n}" for c, n in by_class(study))
        text += f" {counted(study['samples'], 'sample')} ({'; '.join(sizes)}) was compared"
    dropped = by_kind(study["dropped"])
    left_out = f" Left out: {dropped} (see Data and design)." if dropped else ""
    grouped = ""
    if study["group"]:
        grouped = f" Samples of one {clean(study['group'])} always stayed together."
    batches = f" They came from {batch_fact(data)}." if data["batch"] else ""
    return [text + "." + left_out + grouped + batches]


def by_class(study: StudyFacts) -> list[tuple[str, int]]:
    """Return each class with the number of its samples; nothing for a number."""
    return list(zip(study["classes"] or [], study["counts"] or [], strict=True))


def normalisation(data: Study) -> list[str]:
    """Say what was done to the values, before the splits and inside them."""
    steps = data["config"]["normalise"]
    whom = "the samples" if data["study"]["classes"] is None else "a class"
    alone, learned = (_steps(steps[key], whom) for key in ("samples", "folds"))
    before = f"Before any division of the samples, {alone}." if alone else ""
    inside = (
        f"With parameters estimated in each training set and applied unchanged to its test samples,"
        f" {learned}."
        if learned
        else ""
    )
    return [before, inside]


def _steps(steps: list[dict[str, Any]], whom: str) -> str:
    words = [
        STEPS.get(s["step"], clean(s["step"])).format(
            **{key: _setting(value) for key, value in s.items()}) + _left_out(s, whom)
        for s in steps
    ]  # fmt: skip
    text = ", then ".join(words)
    return text.replace(
        "genes were centred, then genes were scaled", "genes were centred and scaled"
    )


def _left_out(step: dict[str, Any], whom: str) -> str:
    """Say which genes were not filled in."""
    most: float = step.get("missing_most", 1.0)
    return f" (genes that more than {percent(most)} of {whom} lack were left out)" * (most < 1)


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_setting, value)) or "none"
    if value is None:
        return "several, segments pruned by BIC"
    value = {"median_of_ratios": "median of ratios", "tmm": "TMM"}.get(value, value)
    return significant(value) if isinstance(value, int | float) else clean(str(value))


def study(data: Study, limits: Limits) -> Section:
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
    return Section("data", "Data and design", words, items, part="patients", folded=True)


def _facts(data: Study) -> list[tuple[str, str]]:
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
        ("Genes", both(it["genes"], it["indicators"])),
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
    scheme = scheme_words(design["scheme"])
    repeats = f" in {counted(design['repeats'], 'repeat')}" if design["repeats"] > 1 else ""
    return (
        f"{counted(design['outer'], 'split')}{repeats} ({scheme}; {train} training and {test} test"
        " samples each)"
    )


def _inner(design: Division) -> str:
    return f"{_range(design['inner'])} ({scheme_words(design['inner_scheme'])})"


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


def reproducibility(data: Study, limits: Limits) -> Section:
    """List seed, versions, inputs and the resolved config."""
    pairs = [("Seed", clean(data["config"].get("seed", "")))]
    versions = data["run"]["versions"].items()
    pairs.append(("Software", ", ".join(f"{clean(k)} {clean(v)}" for k, v in versions)))
    pairs += [(f"sha256 of {clean(k)}", clean(v)) for k, v in data["study"]["inputs"].items()]
    words = [
        "The same inputs, settings and software versions give identical results on any number of"
        " cores.",
        "All settings, defaults included, are in run.json; seconds and memory of each job in"
        " times/jobs.tsv.",
    ]
    return Section("reproducibility", "Reproducibility", words, [Facts("run", "Run", pairs)],
                   part="writeup", folded=True, files=["run.json"])  # fmt: skip

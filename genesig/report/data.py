"""The data of the study: samples, genes, exclusions, normalisation, splits and batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.combat import MIN_TRAINING_SAMPLES_OF_BATCH
from genesig.data.steps.missing_indicators import count_indicators
from genesig.data.study.config_check import describe_unavailable_analyses
from genesig.data.study.confounding import strongest_association
from genesig.report.page.measure import class_codes
from genesig.report.page.record import (
    MAX_PLOTTED_SAMPLES,
    Batch,
    Exclusions,
    HeldOut,
    HeldOutSample,
    SplitSummary,
    Study,
    StudyFacts,
    evenly_spaced_rows,
)
from genesig.report.page.section import Facts, Item, Limits, Section
from genesig.report.page.tables import Column, Table, filled_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import (
    clean,
    counts_by_kind,
    genes_and_indicators,
    percent,
    significant,
)

if TYPE_CHECKING:
    from genesig.results import Dataset, Splits


MAX_EXCLUDED_NAMES = 30
MIN_BATCHES = 5  # of fewer batches left out in turn the interval, by t, is very wide


def collect_study(
    dataset: Dataset, splits: Splits, held_out: HeldOut, fold_steps: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the keys `study`, `design` and `batch` of the report.

    fold_steps: normalise.folds of the config.
    """
    return {
        "study": _collect_facts(dataset),
        "design": _summarise_splits(splits),
        "batch": _collect_batches(dataset, splits, held_out, fold_steps),
    }


def _collect_facts(dataset: Dataset) -> StudyFacts:
    """Return the facts of the study, with the reasons of exclusions."""
    design = dataset.design
    provenance = dataset.provenance
    y = dataset.label_values()
    shown_rows = evenly_spaced_rows(len(dataset.samples), MAX_PLOTTED_SAMPLES)
    groups = dataset.groups()
    counts = None
    units = None
    if design.classes is not None:
        unit_of_sample = np.arange(len(y)) if groups is None else groups
        class_masks = [y == code for code in class_codes(design.classes)]
        counts = [int(in_class.sum()) for in_class in class_masks]
        units = [len(set(unit_of_sample[in_class])) for in_class in class_masks]
    n_indicators = count_indicators(dataset)
    return {
        "label": design.label,
        "task": design.kind,
        "classes": None if design.classes is None else list(design.classes),
        "counts": counts,
        "units": units,
        "group": design.group,
        "pair": design.pair,
        "groups": None if groups is None else len(set(groups)),
        "exchanged": _permutation_unit(dataset),
        "samples": len(dataset.samples),
        "genes": len(dataset.genes) - n_indicators,
        "indicators": n_indicators,
        "missing": int(np.isnan(dataset.X).sum()),
        "inputs": provenance.get("inputs", {}),
        "steps": provenance.get("steps", []),
        "dropped": _exclusions_by_reason(provenance.get("dropped", [])),
        "response": {
            "name": [dataset.samples[row] for row in shown_rows],
            "value": y[shown_rows].tolist(),
        },
    }


def _permutation_unit(dataset: Dataset) -> str:
    """Return the unit that a permutation of the labels exchanges: `StudyFacts.exchanged`.

    Within a group whose label varies its samples are exchanged; groups of one label as a whole.
    """
    groups = dataset.groups()
    if groups is None:
        return "samples"
    y = dataset.label_values()
    label_varies = [np.ptp(y[groups == group]) > 0 for group in set(groups)]
    if all(label_varies):
        return "within"
    return "both" if any(label_varies) else "groups"


def _exclusions_by_reason(dropped: list[dict[str, Any]]) -> list[Exclusions]:
    """Return the names of samples and genes that were left out, by kind and reason."""
    names_by_reason: dict[tuple[str, str], list[str]] = {}
    for note in dropped:
        names = names_by_reason.setdefault((str(note["kind"]), str(note["reason"])), [])
        names.append(str(note["name"]))
    return [
        {"kind": kind, "reason": reason, "count": len(names), "names": names[:MAX_EXCLUDED_NAMES]}
        for (kind, reason), names in names_by_reason.items()
    ]


def _summarise_splits(splits: Splits) -> SplitSummary:
    """Return the numbers and sizes of splits and halves."""
    train = [len(split.train) for split in splits.outer]
    test = [len(split.test) for split in splits.outer]
    inner = [len(split.inner) for split in splits.outer]
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


def _collect_batches(
    dataset: Dataset, splits: Splits, held_out: HeldOut, fold_steps: Sequence[Mapping[str, Any]]
) -> Batch | None:
    """Return the record of the batches; None if the study names no batch column."""
    batches = dataset.batches()
    column = dataset.design.batch
    if batches is None or column is None:
        return None
    y = dataset.label_values()
    classes = dataset.design.classes
    names = sorted(set(batches))
    batch_masks = [batches == name for name in names]
    batch_of_sample = dict(zip(dataset.samples, batches, strict=True))
    # (n_samples, 1), or a column for each class
    numbers = dataset.response_kind.numeric_response(dataset.response()).reshape(len(batches), -1)
    n_uncorrected = [
        _count_uncorrected(split.train, split.test, batch_of_sample) for split in splits.outer
    ]
    return {
        "column": column,
        "names": names,
        "sizes": [int(in_batch.sum()) for in_batch in batch_masks],
        "counts": [
            [int((y[in_batch] == code).sum()) for code in class_codes(classes)]
            for in_batch in batch_masks
        ]
        if classes
        else None,
        "mean": None if classes else [float(y[in_batch].mean()) for in_batch in batch_masks],
        "sd": None if classes else [float(y[in_batch].std()) for in_batch in batch_masks],
        "association": strongest_association(numbers, batches),
        "wrong_share": _wrong_share_of_batches(held_out["samples"], batch_of_sample, names),
        "combat": "combat" in [step["step"] for step in fold_steps],
        "combat_in_figures": "combat"
        in [s["step"] for s in dataset.provenance.get("summaries", [])],
        "held_out": sum(len(split.test) for split in splits.outer),
        "uncorrected": sum(n_uncorrected),
        "uncorrected_splits": sum(number > 0 for number in n_uncorrected),
    }


def _count_uncorrected(
    train: Sequence[str], test: Sequence[str], batch_of_sample: Mapping[str, str]
) -> int:
    """Return the number of test samples whose batch has too few training samples for ComBat."""
    training_counts = Counter(batch_of_sample[name] for name in train)
    return sum(
        training_counts[batch_of_sample[name]] < MIN_TRAINING_SAMPLES_OF_BATCH for name in test
    )


def _wrong_share_of_batches(
    samples: Sequence[HeldOutSample], batch_of_sample: Mapping[str, str], names: Sequence[str]
) -> list[float | None] | None:
    """Return the share of wrong held-out calls on each batch; None without classes."""
    if any(sample["wrong"] is None for sample in samples):
        return None
    shares = []
    for name in names:
        batch_samples = [sample for sample in samples if batch_of_sample[sample["sample"]] == name]
        wrong = sum(sample["wrong"] or 0 for sample in batch_samples)
        tested = sum(sample["tested"] for sample in batch_samples)
        shares.append(wrong / tested if tested else None)
    return shares


def batch_warnings(data: Study) -> list[str]:
    """Return warnings of held-out samples without batch correction, and of few batches left out."""
    batch_summary = data["batch"]
    if batch_summary is None:
        return []
    warnings = []
    if (
        data["design"]["scheme"] == "leave_one_batch_out"
        and len(batch_summary["names"]) < MIN_BATCHES
    ):
        warnings.append(WORDS.text("few_batches", len(batch_summary["names"])))
    if batch_summary["combat"] and batch_summary["uncorrected"]:
        warnings.append(WORDS.text("uncorrected", batch_summary, data["design"]["outer"]))
    return warnings


def batch_table(data: Study, limits: Limits) -> list[Table]:
    """Return the table of the batches with their samples and labels; [] without batches."""
    batch_summary = data["batch"]
    if batch_summary is None:
        return []
    label = clean(data["study"]["label"])
    columns = [Column("Batch", "name"), Column("Samples", "integer")]
    values: list[Sequence[Any]] = [batch_summary["names"], batch_summary["sizes"]]
    if batch_summary["counts"]:
        columns += [Column(clean(name), "integer") for name in data["study"]["classes"] or []]
        values += zip(*batch_summary["counts"], strict=True)
    if batch_summary["mean"] and batch_summary["sd"]:
        columns += [Column(f"Mean {label}", "number"), Column("Standard deviation", "number")]
        values += [batch_summary["mean"], batch_summary["sd"]]
    if batch_summary["wrong_share"] is not None:
        explanation = "Share of its held-out samples"
        columns.append(Column("Wrong while held out", "share", explanation))
        values.append(batch_summary["wrong_share"])
    caption = f"Batches ({clean(batch_summary['column'])}) and {label}."
    rows = list(zip(*values, strict=True))
    return [filled_table("batches", caption, columns, rows, limits.table_rows)]


# clause of Methods for each step of normalisation; {} stands for a setting of the step
STEP_TEXTS = {
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
    " al. 2007, Biostatistics 8:118), without the outcome in its design (covariates: {covariates})",
    "detection_filter": "genes above {above} in a share of {samples} of the training samples were"
    " kept",
    "variance_filter": "the {keep} share of genes with the largest variance was kept",
    "fold_filter": "genes with a max/min ratio above {above} were kept",
    "range_filter": "genes with a range above {above} were kept",
    "centre": "genes were centred",
    "unit_variance": "genes were scaled to unit variance",
}
CENTRE_AND_SCALE_TEXT = "genes were centred and scaled to unit variance"  # both steps together


def sample_sentences(data: Study) -> list[str]:
    """Return the sentences of Methods about samples, genes and exclusions."""
    return WORDS.paragraphs("samples", data)


WORDS = Wording(
    __file__,  # sentences: the macros of data.j2, by name
    MIN_TRAINING_SAMPLES_OF_BATCH=MIN_TRAINING_SAMPLES_OF_BATCH,
)


def normalisation_sentences(data: Study) -> list[str]:
    """Return the sentences of Methods about the steps before the splits and inside them."""
    steps = data["config"]["normalise"]
    scope = "the samples" if data["study"]["classes"] is None else "a class"
    sample_steps, fold_steps = (_step_words(steps[key], scope) for key in ("samples", "folds"))
    return WORDS.paragraphs("normalisation", sample_steps, fold_steps)


def _step_words(steps: list[dict[str, Any]], scope: str) -> str:
    """Return the clauses of steps; `scope` are the samples whose missing values are counted."""
    texts: list[str] = []
    previous = ""
    for step in steps:
        name = step["step"]
        settings = {key: _setting_text(value) for key, value in step.items()}
        text = STEP_TEXTS.get(name, clean(name)).format(**settings)
        if (previous, name) == ("centre", "unit_variance"):
            texts[-1] = CENTRE_AND_SCALE_TEXT
        else:
            texts.append(text + _imputation_limit_words(step, scope))
        previous = name
    return ", then ".join(texts)


def _imputation_limit_words(step: dict[str, Any], scope: str) -> str:
    """Return the text on genes with too many missing values to be imputed; empty if any may."""
    max_missing: float = step.get("missing_most", 1.0)
    if max_missing >= 1:
        return ""
    return f" (genes that more than {percent(max_missing)} of {scope} lack were left out)"


def _setting_text(value: Any) -> str:
    """Return the value of a setting as text; `STEP_TEXTS` has no setting of type bool."""
    if isinstance(value, list):
        return ", ".join(map(_setting_text, value)) or "none"
    if value is None:  # in `STEP_TEXTS` only tau of the step segment
        return "several, segments pruned by BIC"
    value = {"median_of_ratios": "median of ratios", "tmm": "TMM"}.get(value, value)
    return significant(value) if isinstance(value, int | float) else clean(str(value))


def data_section(data: Study, limits: Limits) -> Section:
    """Return the section on samples, exclusions with their reasons, splits and batches."""
    dropped = data["study"]["dropped"]
    words = WORDS.paragraphs("section", data["study"])
    if data["batch"] is not None:
        has_classes = bool(data["study"]["classes"])
        words += WORDS.paragraphs("batches", data["batch"], has_classes=has_classes)
    items: list[Item] = [Facts("study", "Study", _study_facts(data))]
    # Counts and errors of left-out studies are under Patients and Studies.
    if data["design"]["scheme"] != "leave_one_study_out":
        items += batch_table(data, limits)
    if dropped:
        items.append(_exclusions_table(dropped, limits))
    return Section("data", "Data and design", words, items, part="patients", folded=True)


def _study_facts(data: Study) -> list[tuple[str, str]]:
    """Return (name, text) of each fact of the study; facts without a text are left out."""
    study_facts = data["study"]
    design = data["design"]
    data_section = data["config"].get("data", {})
    pairs = [
        ("Genes", genes_and_indicators(study_facts["genes"], study_facts["indicators"])),
        ("Label", WORDS.text("label", data)),
        ("Groups", WORDS.text("groups", study_facts)),
        ("Pairs", clean(study_facts["pair"]) if study_facts["pair"] else ""),
        ("Batches", WORDS.text("batch_fact", data["batch"])),
        ("Steps before splitting", ", ".join(map(_step_name, study_facts["steps"])) or "none"),
        ("Outer splits", WORDS.text("outer_splits", design)),
        ("Inner folds", WORDS.text("inner_folds", design)),
        ("Half-subsamples", str(design["subsamples"])),
        ("Not applied", describe_unavailable_analyses(study_facts["task"], data_section)),
    ]
    return [(name, value) for name, value in pairs if value]


def _step_name(step: Any) -> str:
    """Return the name of a step, which the provenance has as a name or with settings."""
    return clean(step["step"] if isinstance(step, dict) else step)


def _exclusions_table(dropped: list[Exclusions], limits: Limits) -> Table:
    """Return the table of what was left out, by reason."""
    columns = [
        Column("What", "text"),
        Column("Reason", "text"),
        Column("How many", "integer"),
        Column("Which", "text"),
    ]
    rows = [
        (exclusion["kind"], exclusion["reason"], exclusion["count"], _excluded_names(exclusion))
        for exclusion in dropped
    ]
    caption = f"Left out: {counts_by_kind(dropped)}."
    return filled_table("dropped", caption, columns, rows, limits.table_rows)


def _excluded_names(exclusion: Exclusions) -> str:
    """Return the first names, with an ellipsis if there are more."""
    names = ", ".join(clean(name) for name in exclusion["names"])
    return names + (" …" if exclusion["count"] > len(exclusion["names"]) else "")


def reproducibility_section(data: Study, limits: Limits) -> Section:
    """Return the section with the seed and digests of the inputs."""
    pairs = [("Seed", clean(data["config"].get("seed", "")))]
    digests = data["study"]["inputs"].items()
    pairs += [(f"sha256 of {clean(path)}", clean(digest)) for path, digest in digests]
    return Section(
        "reproducibility",
        "Reproducibility",
        WORDS.paragraphs("reproducibility"),
        [Facts("run", "Run", pairs)],
        part="writeup",
        folded=True,
        files=["run.json"],
    )

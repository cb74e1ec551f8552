"""What the Methods text says of the samples and of their normalisation."""

from __future__ import annotations

from typing import Any

from genesig.report.data.record import Data
from genesig.report.data.section_batches import batch_fact
from genesig.report.page.measure import subject
from genesig.report.page.record import StudyFacts
from genesig.report.page.words import by_kind, clean, counted, percent, significant

STEPS = {
    "log2": "values were cut to [{floor}, {ceiling}] and log2-transformed",
    "standardise_samples": "each sample was standardised over its genes",
    "rank_samples": "values were replaced by their ranks within the sample",
    "log_cpm": "counts became log2 of counts per million, {prior} added",
    "missing_indicators": "for each gene with missing values a variable was added, 1 where it is"
    " missing and else 0, which counts as one of the genes",
    "rma_background": "the background of each array was taken off as in RMA",
    "segment": "each sample became a step function along every chromosome by total variation"
    " (Johnson 2013, J. Comput. Graph. Stat. 22:246; weight of a jump, in standard deviations of"
    " the sample's noise: {tau})",
    "knn_impute": "missing values became the mean of the {neighbours} nearest genes",
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


def samples(data: Data) -> list[str]:
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


def normalisation(data: Data) -> list[str]:
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

"""The section about nonlinear selection: what it finds, and whether it adds anything."""

from __future__ import annotations

from functools import partial

from genesig.report.nonlinear import figures
from genesig.report.nonlinear.collect import MOST_GENES
from genesig.report.nonlinear.record import (
    Agreement,
    Nonlinear,
    NonlinearRecord,
    Settings,
)
from genesig.report.page.compared import NO_INTERVAL, Difference, against, neither
from genesig.report.page.measure import measure
from genesig.report.page.often import often
from genesig.report.page.predictors import each_value
from genesig.report.page.record import Study
from genesig.report.page.rows import columns_of, control_rows, transposed
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import clean, counted, decimal, gene_label, percent

BENT, STRAIGHT = 0.8, 0.95
"""Median r² of the curves with a line, below and above which they are called so."""
NOTICED = 0.005
"""Share fitted by no gene that is worth a sentence."""


def nonlinear(data: Nonlinear, limits: Limits) -> Section:
    """Show nonlinear selection beside the linear lists; nothing where it was not run."""
    it = data["nonlinear"]
    if it is None:
        return Section("nonlinear", "Nonlinear selection")
    settings: Settings = data["config"]["nonlinear"]
    words = [finding(data, it), _what(data, it), _differs(), *_honest(it, settings)]
    items: list[Item] = []
    if it["genes"]:
        items.append(_genes(it, data["config"]["signature"]["frequency"]))
    if any(row["model"] == "nonlinear" for row in control_rows(data)):
        items.append(_errors(data))
    if it["curves"]:
        items.append(_curves(it, classes=data["study"]["classes"] is not None))
    caption = (
        f"{often(data).capitalize()}s of the chosen linear lists and of those of each μ that are"
        " also here. The list here has the"
        f" genes selected in at least {percent(data['config']['signature']['frequency'])} of the"
        " splits."
    )
    items.append(packed_table(data, "nonlinear_agreement", caption, limits.table_rows))
    if it["genes"]:
        caption = "Every gene that any split selected."
        items.append(packed_table(data, "nonlinear", caption, limits.table_rows, search=True))
    caption = "Every outer split: what was chosen, what was selected and how it predicts."
    items.append(
        packed_table(data, "nonlinear_scores", caption, limits.table_rows, without=("message",))
    )
    return Section("nonlinear", "Nonlinear selection", words, items, part="stability", folded=True)


def finding(data: Study, it: NonlinearRecord) -> str:
    """Say first what nonlinear selection adds, from the measured numbers alone."""
    bent = _bent(it, data["config"]["nonlinear"])
    said = (_verdict(data, it["difference"]), _shared(it["agreement"], often(data)), bent)
    return " ".join(f"{one}." for one in said if one)


def _verdict(data: Study, d: Difference | None) -> str:
    if d is None or d["error"] is None or d["linear"] is None:
        return "Whether nonlinear selection adds anything could not be measured"
    words = f"its {against(data, d, 'the linear lists')}"
    if d["low"] is None or d["high"] is None:
        return f"Nonlinear selection: {words}, {NO_INTERVAL}"
    if neither(data, "nonlinear"):
        words = words.replace("its ", "the nonlinear ", 1)
        return (
            f"Neither nonlinear nor linear selection is better than chance on these data: {words}"
        )
    if d["high"] < 0:
        return f"Nonlinear selection adds something on these data: {words}"
    if d["low"] > 0:
        return f"Nonlinear selection predicts worse than linear selection on these data: {words}"
    return f"No benefit of nonlinear selection was detectable: {words}"


def _shared(a: Agreement, often: str) -> str:
    size, linear, shared = a["n_nonlinear"], a["n_linear"], a["shared"]
    if not size:
        return "No gene is selected often enough for a list of its own"
    if not linear:
        return f"Its list has {counted(size, 'gene')}; the linear lists have no {often}"
    there = f"among the {counted(linear, often)} of the linear lists"
    if size == 1:
        return f"Its list has one gene, which is {'also' if shared else 'not'} {there}"
    some = {0: "none of them is", 1: "one of them is also"}.get(shared, f"{shared} are also")
    return f"Its list has {size} genes; {some} {there}"


def _bent(it: NonlinearRecord, settings: Settings) -> str:
    if it["straight"] is None:
        return ""
    if settings["kernel"] == "linear":
        return "Its kernel is linear, so its curves are straight lines on any data"
    r2 = f"(median r² with a line {decimal(it['straight'])})"
    if it["straight"] >= STRAIGHT:
        return (
            f"The curves of its final model are nearly straight {r2}: gene by gene, what it sees is"
            " linear"
        )
    how = "bent" if it["straight"] < BENT else "slightly bent"
    return f"The curves of its final model are {how} {r2}"


def _what(data: Study, it: NonlinearRecord) -> str:
    of: int = data["study"]["genes"]
    set_to: Settings = data["config"]["nonlinear"]
    label = "the class" if data["study"]["classes"] else clean(data["study"]["label"])
    here = {
        "linear": "the kernel is linear here, so the score has the same form and only the way"
        " of selecting differs.",
        "polynomial": "here a gene counts if the score, a polynomial of degree"
        f" {set_to['degree']}, changes with it.",
    }.get(set_to["kernel"], "here a gene counts if the score changes with it in any smooth way.")
    kept = (
        f"Of {counted(of, 'gene')}, each training set kept the {it['screened']} on which {label}"
        " depends most, one by one; a gene that matters only together with others may be lost"
        " there."
        if it["screened"] < of
        else "No gene was left out beforehand."
    )
    return (
        f"The linear lists add up genes, each along a straight line; {here}{_penalty(set_to)}"
        f" {kept} Splits and inner folds are those of the linear lists, and everything is learned"
        " on training samples."
    )


def _penalty(set_to: Settings) -> str:
    groups = "those of a table" if set_to["groups"] else "blocks of correlated genes"
    return {
        "group": f" Genes are selected in whole groups, {groups}.",
        "elastic": " The penalty is elastic: correlated genes tend to be selected together.",
    }.get(set_to["penalty"], "")


def _differs() -> str:
    return (
        "Two things differ from the linear lists. Unselected genes still enter the kernel, so the"
        " result depends on how many genes pass the prefilter. And a selected gene has no weight,"
        " only the size of the score's derivative and its curve."
    )


def _honest(it: NonlinearRecord, settings: Settings) -> list[str]:
    trouble, found = it["trouble"], []
    low, middle, high = it["none"]
    refit = (
        "Errors here are those of a smooth refit on the selected genes alone."
        if settings["debias"]
        else "Errors here are those of the penalised function, not refitted on the selected genes"
        " alone."
    )
    if middle is not None and high is not None and high >= NOTICED:
        found.append(
            "Before any gene is selected the kernel already reproduces a median"
            f" {percent(middle)} (range {percent(low)} to {percent(high)}) of the training"
            " variance. This is memorisation; trust the order of the genes more than their number."
            f" {refit}"
        )
    else:
        found.append(refit)
    if trouble["cut"] or trouble["inner_cut"]:
        found.append(
            f"The path stops where it would select more genes than there are samples, because the"
            f" model is not identifiable beyond that point. That happened in {trouble['cut']} of"
            f" {counted(trouble['splits'], 'split')} before the chosen τ was reached, and in"
            f" {trouble['inner_cut']} of {trouble['inner']} paths of the inner folds before the"
            " smallest τ."
        )
    if trouble["none"]:
        found.append(f"{counted(trouble['none'], 'split')} selected no gene at all.")
    if trouble["unfinished"]:
        found.append(
            f"{counted(trouble['unfinished'], 'fit')} did not reach the requested accuracy;"
            " more iterations may help."
        )
    other = "; ".join(clean(one) for one in trouble["messages"]) + " …" * bool(trouble["more"])
    return found + ([f"Said of single splits: {other}."] if trouble["messages"] else [])


def _genes(it: NonlinearRecord, bound: float) -> Picture:
    shown = it["genes"]
    named = "; ".join(
        f"{gene_label(one['gene'], one['symbol'])} {percent(one['frequency'])} against"
        f" {percent(one['linear_frequency'])}"
        for one in shown[:10]
    )
    return picture(
        "nonlinear_genes",
        partial(figures.genes, shown, bound),
        data=columns_of(shown, "gene", "symbol", "frequency", "linear_frequency", "mean_norm"),
        title="How often genes are selected, nonlinear and linear",
        description=f"Selection frequency of {len(shown)} genes in nonlinear and in linear"
        f" selection, and the size of the derivative. {clean(named)}.",
        caption="Left: share of the outer splits that select the gene; blue diamond: nonlinear,"
        " green ring: the chosen linear lists. Right: mean size of the score's derivative"
        " by the gene, over the splits that select it (score per standard deviation of the gene)."
        " The penalty shrinks it, so only the order means something. Bold: genes of the signature."
        f" Shown: the {counted(min(MOST_GENES, it['ever']), 'gene')} selected most often of"
        f" {it['ever']}, and the signature.",
    )


def _errors(data: Study) -> Picture:
    shown, rows = measure(data), control_rows(data)
    fvm = (
        " The feature vector machine picks genes by mutual information between ranks; its own"
        " prediction is weak, so the same smooth refit predicts."
        if any(row["model"] == "fvm" for row in rows)
        else ""
    )
    return picture(
        "nonlinear_errors",
        partial(figures.errors, data),
        data={"model": [row["model"] for row in rows], **shown.columns(rows)},
        title=f"{shown.title} beside linear selection and other methods",
        description=f"{shown.name}, dots with 95 % CI: {each_value(rows, shown)}.",
        caption=f"{shown.title} on held-out samples of the same splits"
        " with its 95\u00a0% CI; dashed: chance. Blue: nonlinear, green: the chosen"
        f" linear lists.{fvm}",
    )


def _curves(it: NonlinearRecord, *, classes: bool) -> Picture:
    shown, total = len(it["curves"]), it["drawn_from"]
    named = "; ".join(
        f"{gene_label(one['gene'], one['symbol'])}, r² with a line {decimal(one['straight'])}"
        for one in it["curves"]
    )
    many = f" The first {shown} of its {total} genes." if shown < total else ""
    return picture(
        "nonlinear_curves",
        partial(figures.curves, it["curves"], "mean score" if classes else "mean prediction"),
        data=transposed(
            ("gene", "symbol", "value", "effect", "samples"),
            [
                (one["gene"], one["symbol"], *at)
                for one in it["curves"]
                for at in zip(one["value"], one["effect"], one["samples"], strict=True)
            ],
        ),
        title="Partial dependence on the top genes",
        description=f"Mean score of the final model along {counted(shown, 'gene')}:"
        f" {clean(named)}.",
        caption="How the score of the final model changes with one gene, averaged over what the"
        " other genes are in all samples. Ticks: observed values; beyond them the curve is"
        " extrapolated. This model was fitted on all samples, so the curves"
        " describe it and are no evidence. r² near 1: a straight line says the same. The average"
        " hides how genes act together. Genes by falling derivative; where a curve is flat, the"
        f" refit does without the gene.{many}",
    )

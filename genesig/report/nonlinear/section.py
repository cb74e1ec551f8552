"""What nonlinear selection finds, and whether it adds anything: words and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.nonlinear.collect import (
    MOST_GENES,
    Agreement,
    Curve,
    Nonlinear,
    NonlinearRecord,
    SelectedGene,
    Settings,
)
from genesig.report.page import charts
from genesig.report.page.measure import often
from genesig.report.page.record import Study
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    INK,
    MUTED,
    NEGATIVE,
    OWN,
    PAPER,
    RULE,
    WIDE,
    sheet,
)
from genesig.report.page.svg import Picture, gene_names, name_rows, picture
from genesig.report.page.tables import (
    NO_INTERVAL,
    Difference,
    against,
    columns_of,
    neither,
    packed_table,
    transposed,
)
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    gene_label,
    percent,
    power,
    shorten,
    significant,
)

NONLINEAR = NEGATIVE  # blue; the linear lists are green as everywhere
COLUMNS = 3


def draw_genes(rows: Sequence[SelectedGene], bound: float) -> Figure:
    """How often each gene is selected, by both; and the size of the derivative by it."""
    names = [gene_label(row["gene"], row["symbol"], 30) for row in rows]
    bold = [row["in_signature"] for row in rows]
    figure, left, right = charts.frequencies(names, bold, bound, "size of the derivative")
    for y, row in enumerate(rows):
        low, high = sorted((row["cv_frequency"], row["linear_cv_frequency"]))
        left.hlines(y, low, high, color=RULE, lw=2.4)
        left.scatter(row["linear_cv_frequency"], y, s=30, facecolor=PAPER, edgecolor=OWN, lw=1.4,
                     zorder=3)  # fmt: skip
        left.scatter(row["cv_frequency"], y, s=24, marker="D", color=NONLINEAR, zorder=4)
        if row["mean_norm"] is not None:
            right.hlines(y, 0, row["mean_norm"], color=NONLINEAR, lw=3.2)
    for ax in (left, right):
        name_rows(ax, gene_names([r["gene"] for r in rows], [r["symbol"] for r in rows]))
    right.set_xlim(left=0)
    return figure


def draw_curves(found: Sequence[Curve], noun: str) -> Figure:
    """Mean of the final model, called `noun`, along each of its first genes; ticks: samples."""
    columns = min(COLUMNS, len(found))
    lines = -(-len(found) // columns)
    figure, axes = sheet(WIDE, 0.5 + 1.75 * lines, lines, columns, gap=0.05, sharey=True,
                         squeeze=False)  # fmt: skip
    for number, ax in enumerate(axes.flat):
        if number >= len(found):
            ax.set_visible(False)
            continue
        _curve(ax, found[number])
    for row in axes:
        row[0].set_ylabel(noun)
    axes[-1][0].set_xlabel("normalised expression")
    return figure


def _curve(ax: Axes, one: Curve) -> None:
    ax.plot(one["value"], one["effect"], color=NONLINEAR, lw=2)
    ticks = [value for value, many in zip(one["value"], one["samples"], strict=True) if many]
    low = 0.045
    ax.vlines(ticks, 0, low, color=INK, lw=0.8, transform=ax.get_xaxis_transform())
    ax.set_title(shorten(one["symbol"], 20), fontsize=8)
    ax.set_title(f"r² {decimal(one['straight'])}", fontsize=7, loc="right", color=MUTED)
    ax.locator_params(axis="both", nbins=4)
    ax.grid(axis="y", color=RULE, lw=0.5)


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
    words = [finding(data, it), _what(data, it), *_honest(it, settings)]
    items, pictures = list[Item](), list[Picture]()
    if it["genes"]:
        pictures.append(_genes(it, data["config"]["signature"]["cv_frequency"]))
    if it["curves"]:
        pictures.append(_curves(it, classes=data["study"]["classes"] is not None))
    if _is_better(it["difference"]):
        items, pictures = [*pictures], []
    else:
        words = [finding(data, it)]
    if it["genes"]:
        caption = "Every gene that any split selected."
        items.append(packed_table(data, "nonlinear", caption, limits.table_rows, search=True))
    return Section("nonlinear", "Nonlinear selection", words, items, folded=True,
                   pictures=pictures,
                   files=["nonlinear_scores.tsv", "nonlinear_agreement.tsv"])  # fmt: skip


def _is_better(difference: Difference | None) -> bool:
    """Whether nonlinear models have a smaller error than linear ones, beyond chance."""
    return difference is not None and difference["high"] is not None and difference["high"] < 0


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
        return f"Its effects are almost linear {r2}"
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
        f" {kept} Unselected genes still enter the kernel, so the result depends on how many genes"
        " are kept; a selected gene has no weight, only its curve."
    )


def _penalty(set_to: Settings) -> str:
    groups = "those of a table" if set_to["groups"] else "blocks of correlated genes"
    return {
        "group": f" Genes are selected in whole groups, {groups}.",
        "elastic": " The penalty is elastic: correlated genes tend to be selected together.",
    }.get(set_to["penalty"], "")


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
            f"The kernel fits {percent(middle)} of the training variance (median; range"
            f" {percent(low)} to {percent(high)}) before selecting any gene (overfitting): use the"
            " ranking, not the number of genes."
            f" {refit}"
        )
    else:
        found.append(refit)
    if trouble["cut"] or trouble["inner_cut"]:
        found.append(
            "A path stops where it would select more genes than there are samples: in"
            f" {trouble['cut']} of {counted(trouble['splits'], 'split')} before the chosen τ, in"
            f" {trouble['inner_cut']} of {trouble['inner']} inner paths before the smallest τ."
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
        f"{gene_label(one['gene'], one['symbol'])} {percent(one['cv_frequency'])} against"
        f" {percent(one['linear_cv_frequency'])}"
        for one in shown[:10]
    )
    return picture(
        "nonlinear_genes",
        partial(draw_genes, shown, bound),
        data=columns_of(
            shown, "gene", "symbol", "cv_frequency", "linear_cv_frequency", "mean_norm"
        ),
        title="How often genes are selected, nonlinear and linear",
        description=f"Selection frequency of {len(shown)} genes in nonlinear and in linear"
        f" selection, and the size of the derivative. {clean(named)}.",
        caption="Left: share of the outer splits that select the gene; blue diamond: nonlinear,"
        " green ring: the chosen linear lists. Right: mean size of the score's derivative by the"
        " gene, shrunken by the penalty, so that only the order means something. Bold: genes of the"
        f" signature. Shown: the {counted(min(MOST_GENES, it['ever']), 'gene')} selected most often"
        f" of {it['ever']}, and the signature.",
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
        partial(draw_curves, it["curves"], "mean score" if classes else "mean prediction"),
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
        " extrapolated. The model was fitted on all samples: the curves describe it and are no"
        f" evidence. r² near 1: a straight line says the same.{many}",
    )


KERNELS = {
    "gaussian": "a Gaussian kernel (width {width} the median distance between training samples)",
    "polynomial": "a polynomial kernel of degree {degree}",
    "linear": "a linear kernel",
}
PENALTIES = {
    "lasso": "a penalty on the norm of its partial derivative by each gene over the training"
    " samples",
    "group": "a penalty on the norm of its partial derivatives by each {groups}",
    "elastic": "a penalty on the norm of its partial derivative by each gene and the norm squared"
    " (elastic penalty, share {mu})",
}


def nonlinear_sentences(data: Nonlinear) -> list[str]:
    """Return the sentences, none where nonlinear selection was not run."""
    if data["nonlinear"] is None:
        return []
    it: Settings = data["config"]["nonlinear"]
    return [_model(it), _screen(it), _choice(it), _control(it)]


def _model(it: Settings) -> str:
    width = " or ".join(map(significant, it["width"])) + " times"
    groups = "group of genes of a table" if it["groups"] else "block of correlated genes"
    kernel = KERNELS.get(it["kernel"], f"the kernel {clean(it['kernel'])}")
    penalty = PENALTIES.get(it["penalty"], f"the penalty {clean(it['penalty'])}")
    return (
        "For nonlinear selection on the same splits, the squared error of a function with"
        f" {kernel.format(width=width, degree=it['degree'])} was minimised under"
        f" {penalty.format(groups=groups, mu=significant(it['mu']))} (Rosasco et al. 2010;"
        " Gregorova et al. 2018), plus ν times its squared norm; a gene is selected unless"
        " this derivative is zero at every training sample."
    )


def _screen(it: Settings) -> str:
    if it["genes"] is None:
        return "All genes took part."
    return (
        f"Each training set, also of the inner folds, kept its {counted(it['genes'], 'gene')} of"
        " largest dependence, measured by the Hilbert-Schmidt independence criterion between ranks"
        " and response (Song et al. 2012)."
    )


def _choice(it: Settings) -> str:
    what = "τ, ν and the width" if len(it["width"]) > 1 else "τ and ν"
    refit = (
        f"; kernel ridge regression on the selected genes, its weight chosen from"
        f" {counted(len(it['lam']), 'value')} ({power(min(it['lam']))} to {power(max(it['lam']))}),"
        " predicted"
        if it["debias"]
        else "; the penalised function itself predicted"
    )
    return (
        f"The inner folds chose {what} among {counted(it['tau_count'], 'value')} of τ down to"
        f" {significant(it['tau_min'])} τ max and ν ="
        f" {', '.join(map(significant, it['nu']))} (relative to mean diag K/n) by squared"
        f" error{refit}."
    )


def _control(it: Settings) -> str:
    if not it["fvm_genes"]:
        return ""
    return (
        f"As a control, up to {counted(max(it['fvm_genes']), 'gene')} were selected by the Feature"
        f" Vector Machine (Li et al. 2006; {it['fvm_bins']} bins of the ranks) from the same kept"
        " genes, followed by the same ridge."
    )

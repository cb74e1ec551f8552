"""The section about nonlinear selection, and its sentences of Methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.nonlinear.collect import (
    MAX_NONLINEAR_GENES,
    DependenceCurve,
    ListAgreement,
    Nonlinear,
    NonlinearRecord,
    NonlinearSettings,
    SelectedGene,
)
from genesig.report.page import charts
from genesig.report.page.measure import frequent_gene_noun
from genesig.report.page.record import Study
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    GENESIG_COLOUR,
    INK,
    MUTED,
    NEGATIVE,
    PAGE_WIDTH,
    PAPER,
    RULE,
    new_figure,
)
from genesig.report.page.svg import Picture, gene_names, name_rows, picture
from genesig.report.page.tables import (
    NO_INTERVAL,
    Difference,
    columns_of,
    comparison_words,
    neither_beats_chance,
    packed_table,
    transposed,
)
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    gene_label,
    percent,
    shorten,
    significant,
)

NONLINEAR_COLOUR = NEGATIVE  # blue; linear lists are green on the whole page
CURVES_PER_ROW = 3


def draw_gene_frequencies(rows: Sequence[SelectedGene], core_bound: float) -> Figure:
    """Draw the frequency of each gene in both selections, and the size of the derivative."""
    names = [gene_label(row["gene"], row["symbol"], 30) for row in rows]
    bold = [row["in_signature"] for row in rows]
    figure, frequency_axes, norm_axes = charts.frequencies(
        names, bold, core_bound, "size of the derivative"
    )
    for y, row in enumerate(rows):
        low, high = sorted((row["cv_frequency"], row["linear_cv_frequency"]))
        frequency_axes.hlines(y, low, high, color=RULE, lw=2.4)
        frequency_axes.scatter(
            row["linear_cv_frequency"],
            y,
            s=30,
            facecolor=PAPER,
            edgecolor=GENESIG_COLOUR,
            lw=1.4,
            zorder=3,
        )
        frequency_axes.scatter(
            row["cv_frequency"], y, s=24, marker="D", color=NONLINEAR_COLOUR, zorder=4
        )
        if row["mean_norm"] is not None:
            norm_axes.hlines(y, 0, row["mean_norm"], color=NONLINEAR_COLOUR, lw=3.2)
    for ax in (frequency_axes, norm_axes):
        name_rows(ax, gene_names([row["gene"] for row in rows], [row["symbol"] for row in rows]))
    norm_axes.set_xlim(left=0)
    return figure


def draw_dependence(curves: Sequence[DependenceCurve], noun: str) -> Figure:
    """Draw the mean score (or `noun`) along each of the first genes; ticks are samples."""
    columns = min(CURVES_PER_ROW, len(curves))
    n_rows = -(-len(curves) // columns)
    figure, axes = new_figure(
        PAGE_WIDTH, 0.5 + 1.75 * n_rows, n_rows, columns, gap=0.05, sharey=True, squeeze=False
    )
    for number, ax in enumerate(axes.flat):
        if number >= len(curves):
            ax.set_visible(False)
            continue
        _draw_curve(ax, curves[number])
    for row in axes:
        row[0].set_ylabel(noun)
    axes[-1][0].set_xlabel("normalised expression")
    return figure


def _draw_curve(ax: Axes, curve: DependenceCurve) -> None:
    """Draw the curve of one gene."""
    ax.plot(curve["value"], curve["effect"], color=NONLINEAR_COLOUR, lw=2)
    ticks = [
        value
        for value, n_samples in zip(curve["value"], curve["samples"], strict=True)
        if n_samples
    ]
    tick_height = 0.045
    ax.vlines(ticks, 0, tick_height, color=INK, lw=0.8, transform=ax.get_xaxis_transform())
    ax.set_title(shorten(curve["symbol"], 20), fontsize=8)
    ax.set_title(f"r² {decimal(curve['straight'])}", fontsize=7, loc="right", color=MUTED)
    ax.locator_params(axis="both", nbins=4)
    ax.grid(axis="y", color=RULE, lw=0.5)


MAX_R2_OF_BENT = 0.8  # median r² with a line below which curves are called bent
MIN_R2_OF_STRAIGHT = 0.95  # median r² with a line from which they are called almost linear
# share of the variance fitted without a gene that is worth a sentence
MIN_EXPLAINED_BY_NONE = 0.005


def nonlinear_section(data: Nonlinear, limits: Limits) -> Section:
    """Return the section about nonlinear selection; an empty one if it was not run."""
    record = data["nonlinear"]
    if record is None:
        return Section("nonlinear", "Nonlinear selection")
    settings: NonlinearSettings = data["config"]["nonlinear"]
    paragraphs = [
        nonlinear_finding(data, record),
        _method_sentence(data, record),
        *_caveats(record, settings),
    ]
    items = list[Item]()
    pictures = list[Picture]()
    if record["genes"]:
        pictures.append(_genes_picture(record, data["config"]["signature"]["cv_frequency"]))
    if record["curves"]:
        pictures.append(_curves_picture(record, has_classes=data["study"]["classes"] is not None))
    if _is_better(record["difference"]):
        items = [*pictures]
        pictures = []
    else:
        paragraphs = [nonlinear_finding(data, record)]
    if record["genes"]:
        caption = "Every gene that any split selected."
        items.append(packed_table(data, "nonlinear", caption, limits.table_rows, search=True))
    return Section(
        "nonlinear",
        "Nonlinear selection",
        paragraphs,
        items,
        folded=True,
        pictures=pictures,
        files=["nonlinear_scores.tsv", "nonlinear_agreement.tsv"],
    )


def _is_better(difference: Difference | None) -> bool:
    """Tell whether nonlinear models have a smaller error than linear ones, beyond chance."""
    return difference is not None and difference["high"] is not None and difference["high"] < 0


def nonlinear_finding(data: Study, record: NonlinearRecord) -> str:
    """Return the sentences on the benefit of nonlinear selection."""
    curvature = _curvature_sentence(record, data["config"]["nonlinear"])
    sentences = (
        _difference_sentence(data, record["difference"]),
        _agreement_sentence(record["agreement"], frequent_gene_noun(data)),
        curvature,
    )
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _difference_sentence(data: Study, difference: Difference | None) -> str:
    """Return the difference of the errors in words."""
    if difference is None or difference["error"] is None or difference["linear"] is None:
        return "Whether nonlinear selection adds anything could not be measured"
    comparison = f"its {comparison_words(data, difference, 'the linear lists')}"
    if difference["low"] is None or difference["high"] is None:
        return f"Nonlinear selection: {comparison}, {NO_INTERVAL}"
    if neither_beats_chance(data, "nonlinear"):
        comparison = comparison.replace("its ", "the nonlinear ", 1)
        return (
            "Neither nonlinear nor linear selection is better than chance on these data:"
            f" {comparison}"
        )
    if difference["high"] < 0:
        return f"Nonlinear selection adds something on these data: {comparison}"
    if difference["low"] > 0:
        return (
            f"Nonlinear selection predicts worse than linear selection on these data: {comparison}"
        )
    return f"No benefit of nonlinear selection was detectable: {comparison}"


def _agreement_sentence(agreement: ListAgreement, core_noun: str) -> str:
    """Return how many core genes both selections share."""
    n_nonlinear = agreement["n_nonlinear"]
    linear = agreement["n_linear"]
    shared = agreement["shared"]
    if not n_nonlinear:
        return "No gene is selected often enough for a list of its own"
    if not linear:
        return f"Its list has {counted(n_nonlinear, 'gene')}; the linear lists have no {core_noun}"
    context = f"among the {counted(linear, core_noun)} of the linear lists"
    if n_nonlinear == 1:
        return f"Its list has one gene, which is {'also' if shared else 'not'} {context}"
    shared_text = {0: "none of them is", 1: "one of them is also"}.get(shared, f"{shared} are also")
    return f"Its list has {n_nonlinear} genes; {shared_text} {context}"


def _curvature_sentence(record: NonlinearRecord, settings: NonlinearSettings) -> str:
    """Return whether the curves are bent."""
    if record["straight"] is None:
        return ""
    if settings["kernel"] == "linear":
        return "Its kernel is linear, so its curves are straight lines on any data"
    r2 = f"(median r² with a line {decimal(record['straight'])})"
    if record["straight"] >= MIN_R2_OF_STRAIGHT:
        return f"Its effects are almost linear {r2}"
    shape = "bent" if record["straight"] < MAX_R2_OF_BENT else "slightly bent"
    return f"The curves of its final model are {shape} {r2}"


def _method_sentence(data: Study, record: NonlinearRecord) -> str:
    """Return how nonlinear selection differs from the linear lists."""
    n_genes: int = data["study"]["genes"]
    settings: NonlinearSettings = data["config"]["nonlinear"]
    label = "the class" if data["study"]["classes"] else clean(data["study"]["label"])
    kernel_note = {
        "linear": "the kernel is linear here, so the score has the same form and only the way"
        " of selecting differs.",
        "polynomial": "here a gene counts if the score, a polynomial of degree"
        f" {settings['degree']}, changes with it.",
    }.get(settings["kernel"], "here a gene counts if the score changes with it in any smooth way.")
    screening_note = (
        f"Of {counted(n_genes, 'gene')}, each training set kept the {record['screened']} on which"
        f" {label} depends most, one by one; a gene that matters only together with others may be"
        " lost there."
        if record["screened"] < n_genes
        else "No gene was left out beforehand."
    )
    return (
        "The linear lists add up genes, each along a straight line;"
        f" {kernel_note}{_penalty_sentence(settings)} {screening_note} Unselected genes still enter"
        " the kernel, so the result depends on how many genes are kept; a selected gene has no"
        " weight, only its curve."
    )


def _penalty_sentence(settings: NonlinearSettings) -> str:
    """Return the note on grouped or elastic penalties; "" for others."""
    groups = "those of a table" if settings["groups"] else "blocks of correlated genes"
    return {
        "group": f" Genes are selected in whole groups, {groups}.",
        "elastic": " The penalty is elastic: correlated genes tend to be selected together.",
    }.get(settings["penalty"], "")


def _caveats(record: NonlinearRecord, settings: NonlinearSettings) -> list[str]:
    """Return the sentences on overfitting, and on paths and fits that ended early."""
    problems = record["trouble"]
    sentences = []
    low, median, high = record["none"]
    refit_sentence = (
        "Errors here are those of a smooth refit on the selected genes alone."
        if settings["debias"]
        else "Errors here are those of the penalised function, not refitted on the selected genes"
        " alone."
    )
    if median is not None and high is not None and high >= MIN_EXPLAINED_BY_NONE:
        sentences.append(
            f"The kernel fits {percent(median)} of the training variance (median; range"
            f" {percent(low)} to {percent(high)}) before selecting any gene (overfitting): use the"
            " ranking, not the number of genes."
            f" {refit_sentence}"
        )
    else:
        sentences.append(refit_sentence)
    if problems["cut"] or problems["inner_cut"]:
        sentences.append(
            "A path stops where it would select more genes than there are samples: in"
            f" {problems['cut']} of {counted(problems['splits'], 'split')} before the chosen τ, in"
            f" {problems['inner_cut']} of {problems['inner']} inner paths before the smallest τ."
        )
    if problems["none"]:
        sentences.append(f"{counted(problems['none'], 'split')} selected no gene at all.")
    if problems["unfinished"]:
        sentences.append(
            f"{counted(problems['unfinished'], 'fit')} did not reach the requested accuracy;"
            " more iterations may help."
        )
    messages = "; ".join(clean(message) for message in problems["messages"]) + " …" * bool(
        problems["further_messages"]
    )
    return sentences + ([f"Said of single splits: {messages}."] if problems["messages"] else [])


def _genes_picture(record: NonlinearRecord, core_bound: float) -> Picture:
    """Return the frequencies of genes."""
    genes = record["genes"]
    gene_texts = "; ".join(
        f"{gene_label(gene['gene'], gene['symbol'])} {percent(gene['cv_frequency'])} against"
        f" {percent(gene['linear_cv_frequency'])}"
        for gene in genes[:10]
    )
    return picture(
        "nonlinear_genes",
        partial(draw_gene_frequencies, genes, core_bound),
        data=columns_of(
            genes, "gene", "symbol", "cv_frequency", "linear_cv_frequency", "mean_norm"
        ),
        title="How often genes are selected, nonlinear and linear",
        description=f"Selection frequency of {len(genes)} genes in nonlinear and in linear"
        f" selection, and the size of the derivative. {clean(gene_texts)}.",
        caption="Left: share of the outer splits that select the gene; blue diamond: nonlinear,"
        " green ring: the chosen linear lists. Right: mean size of the score's derivative by the"
        " gene, shrunken by the penalty, so that only the order means something. Bold: genes of"
        f" the signature. Shown: the {counted(min(MAX_NONLINEAR_GENES, record['ever']), 'gene')}"
        f" selected most often of {record['ever']}, and the signature.",
    )


def _curves_picture(record: NonlinearRecord, *, has_classes: bool) -> Picture:
    """Return the partial dependence on the first genes."""
    n_curves = len(record["curves"])
    total = record["drawn_from"]
    curve_texts = "; ".join(
        f"{gene_label(curve['gene'], curve['symbol'])}, r² with a line {decimal(curve['straight'])}"
        for curve in record["curves"]
    )
    subset_note = f" The first {n_curves} of its {total} genes." if n_curves < total else ""
    return picture(
        "nonlinear_curves",
        partial(
            draw_dependence, record["curves"], "mean score" if has_classes else "mean prediction"
        ),
        data=transposed(
            ("gene", "symbol", "value", "effect", "samples"),
            [
                (curve["gene"], curve["symbol"], *point)
                for curve in record["curves"]
                for point in zip(curve["value"], curve["effect"], curve["samples"], strict=True)
            ],
        ),
        title="Partial dependence on the top genes",
        description=f"Mean score of the final model along {counted(n_curves, 'gene')}:"
        f" {clean(curve_texts)}.",
        caption="How the score of the final model changes with one gene, averaged over what the"
        " other genes are in all samples. Ticks: observed values; beyond them the curve is"
        " extrapolated. The model was fitted on all samples: the curves describe it and are no"
        f" evidence. r² near 1: a straight line says the same.{subset_note}",
    )


KERNEL_WORDS = {
    "gaussian": "a Gaussian kernel (width {width} the median distance between training samples)",
    "polynomial": "a polynomial kernel of degree {degree}",
    "linear": "a linear kernel",
}
PENALTY_WORDS = {
    "lasso": "a penalty on the norm of its partial derivative by each gene over the training"
    " samples",
    "group": "a penalty on the norm of its partial derivatives by each {groups}",
    "elastic": "a penalty on the norm of its partial derivative by each gene and the norm squared"
    " (elastic penalty, share {mu})",
}


def nonlinear_sentences(data: Nonlinear) -> list[str]:
    """Return the sentences of Methods; none if nonlinear selection was not run."""
    if data["nonlinear"] is None:
        return []
    settings: NonlinearSettings = data["config"]["nonlinear"]
    return [
        _model_sentence(settings),
        _screening_sentence(settings),
        _choice_sentence(settings),
        _control_sentence(settings),
    ]


def _model_sentence(settings: NonlinearSettings) -> str:
    """Return the kernel and the penalty in words."""
    width = " or ".join(map(significant, settings["width"])) + " times"
    groups = "group of genes of a table" if settings["groups"] else "block of correlated genes"
    kernel = KERNEL_WORDS.get(settings["kernel"], f"the kernel {clean(settings['kernel'])}")
    penalty = PENALTY_WORDS.get(settings["penalty"], f"the penalty {clean(settings['penalty'])}")
    return (
        "Nonlinear selection minimised the squared error of a function with"
        f" {kernel.format(width=width, degree=settings['degree'])} under"
        f" {penalty.format(groups=groups, mu=significant(settings['mu']))} (Rosasco et al. 2010;"
        " Gregorova et al. 2018), plus ν times its squared norm."
    )


def _screening_sentence(settings: NonlinearSettings) -> str:
    """Return how genes were screened."""
    if settings["genes"] is None:
        return "All genes took part."
    return (
        f"Each training set kept its {counted(settings['genes'], 'gene')} of largest dependence"
        " (Hilbert-Schmidt independence criterion of the ranks; Song et al. 2012)."
    )


def _choice_sentence(settings: NonlinearSettings) -> str:
    """Return how the settings were chosen."""
    chosen_names = "τ, ν and the width" if len(settings["width"]) > 1 else "τ and ν"
    refit = (
        "; kernel ridge regression on the selected genes predicted"
        if settings["debias"]
        else "; the penalised function itself predicted"
    )
    return (
        f"The inner folds chose {chosen_names} by squared error from the values of the config"
        f"{refit}."
    )


def _control_sentence(settings: NonlinearSettings) -> str:
    """Return the Feature Vector Machine that was run as a control."""
    if not settings["fvm_genes"]:
        return ""
    return (
        f"As a control, the same ridge used up to {counted(max(settings['fvm_genes']), 'gene')} of"
        f" the Feature Vector Machine (Li et al. 2006; {settings['fvm_bins']} bins of the ranks)."
    )

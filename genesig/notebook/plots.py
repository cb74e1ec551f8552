"""Plots of the results of a study, each into matplotlib axes, which it returns.

Rows of tables without `mu` are of the gene list that the study predicts by; others are of the
nested lists, which grow with mu.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.errors import input_error
from genesig.report.page.charts import GROUP_COLOURS
from genesig.report.page.measure import MEASURES
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    GENESIG_COLOUR,
    GREY,
    INK,
    MUTED,
    diverging,
    reference_line,
)
from genesig.report.page.tables import class_margins
from genesig.report.page.words import gene_label, shorten
from genesig.response.design import label_columns
from genesig.results.annotated import dense
from genesig.selection.assess.intervals import called_class, confusion_matrix, roc_curve

if TYPE_CHECKING:
    import anndata
    import pandas as pd
    from matplotlib.axes import Axes

GOLDEN_RATIO_STEP = 0.618034  # its multiples spread neighbouring ranks evenly over a width


class ResultsProtocol(Protocol):
    """The properties of `Results` that plots use."""

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Tables by name."""

    @property
    def signature(self) -> anndata.AnnData:
        """Samples and genes of the signature."""

    @property
    def null(self) -> Array:
        """(B,) errors of the study under each permutation of the labels."""

    @property
    def model(self) -> dict[str, Any]:
        """The content of model.json."""

    @property
    def record(self) -> dict[str, Any]:
        """The content of run.json."""


class Plots:
    """Plots of one study; `ax` are the axes to draw into, None makes a figure."""

    def __init__(self, results: ResultsProtocol) -> None:
        self._results = results

    def roc(self, ax: Axes | None = None) -> Axes:
        """Draw the ROC curve of the held-out scores, one line for each repeat.

        With several classes, the curve of each class against the others by its own score.
        """
        classes = self._classes("roc")
        ax = _axes_or_new(ax)
        ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
        if len(classes) > 2:
            return self._one_against_the_others(classes, ax)
        negative, positive = classes
        for _, rows in self._held_out().groupby("repeat"):
            x, y = roc_curve((rows["label"] == positive).to_numpy(), rows["score"].to_numpy())
            ax.plot(x, y, color=GENESIG_COLOUR, lw=1.6, alpha=0.6)
        ax.set(
            xlabel=f"share of {negative} called {positive}",
            ylabel=f"share of {positive} called {positive}",
            aspect="equal",
        )
        return ax

    def _one_against_the_others(self, classes: Sequence[str], ax: Axes) -> Axes:
        """Draw the ROC curve of each of several classes against the others."""
        for _, rows in self._held_out().groupby("repeat"):
            for name, colour in zip(classes, CLASS_COLOURS, strict=False):
                score = rows[f"score of {name}"].to_numpy()
                x, y = roc_curve((rows["label"] == name).to_numpy(), score)
                ax.plot(x, y, color=colour, lw=1.4, alpha=0.8, label=shorten(name, 24))
        handles, names = ax.get_legend_handles_labels()
        handle_of_class = dict(zip(names, handles, strict=True))  # one, not one for each repeat
        ax.legend(
            handle_of_class.values(), handle_of_class.keys(), frameon=False, loc="lower right"
        )
        ax.set(
            xlabel="share of other classes called so",
            ylabel="share of the class called so",
            aspect="equal",
        )
        return ax

    def confusion(self, ax: Axes | None = None) -> Axes:
        """Draw the predicted classes of the held-out samples of each class, mean of the repeats."""
        classes = self._classes("confusion")
        ax = _axes_or_new(ax)
        rows = self._held_out()
        repeats = rows["repeat"].nunique()
        true_class, predicted_class = (
            np.array([classes.index(cell) if cell in classes else -1 for cell in rows[column]])
            for column in ("label", "predicted")
        )
        if len(classes) == 2:
            predicted_class = called_class(true_class == 1, rows["score"].to_numpy())
        # without the last column, of samples without a prediction
        counts = confusion_matrix(true_class, predicted_class, len(classes))[:, :-1] / repeats
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.4)
        for (row, column), count in np.ndenumerate(counts):
            text = f"{count:.3g}\n{shares[row, column]:.0%}"
            ax.text(column, row, text, ha="center", va="center")
        names = [shorten(name, 16) for name in classes]
        ax.set_xticks(range(len(names)), names)
        ax.set_yticks(range(len(names)), names)
        ax.set(xlabel="predicted while held out", ylabel="true")
        return ax

    def survival(self, ax: Axes | None = None) -> Axes:
        """Draw the Kaplan-Meier curves of the held-out samples of high and of low risk."""
        if "survival_curves" not in self._results.tables:
            raise input_error(
                "plot.survival", "is of times to events; this study predicts another kind"
            )
        ax = _axes_or_new(ax)
        for name, curve in self._results.tables["survival_curves"].groupby("group"):
            colour = GROUP_COLOURS[str(name)]
            ax.step(
                curve["time"],
                curve["survival"],
                where="post",
                color=colour,
                lw=1.8,
                label=f"{name} risk ({curve['at_risk'].iloc[0]})",
            )
            ax.fill_between(
                curve["time"],
                curve["low"],
                curve["high"],
                step="post",
                color=colour,
                alpha=0.13,
                lw=0,
            )
        ax.set(xlabel=self._label(), ylabel="share without the event", ylim=(0, 1.02))
        ax.legend(frameon=False)
        return ax

    def scores(self, ax: Axes | None = None) -> Axes:
        """Draw each sample's score while it was held out, classes apart or against the number.

        With several classes, the margin of the sample's own class over the largest other score.
        """
        ax = _axes_or_new(ax)
        rows = self._held_out()
        if self._results.model["classes"] is None:
            observed = _numeric_response(rows["label"].astype(str).str.rstrip("+"))
            ax.scatter(observed, rows["score"], s=14, color=GENESIG_COLOUR, alpha=0.6, lw=0)
            if MEASURES[self._results.model["task"]].fitted:
                ax.axline((observed.mean(), observed.mean()), slope=1, color=MUTED, dashes=(4, 3))
            ax.set(xlabel="observed", ylabel="predicted while held out")
            return ax
        classes = self._classes("scores")
        if len(classes) > 2:
            rows = rows.assign(score=class_margins(rows, classes))
        mean = rows.groupby("sample", sort=False).agg({"score": "mean", "label": "first"})
        class_scores = [mean["score"][mean["label"] == name].to_numpy() for name in classes]
        _draw_strips(ax, class_scores, classes)
        reference_line(ax, y=0)
        quantity = "score of its class above the largest other" if len(classes) > 2 else "score"
        ax.set_ylabel(f"mean {quantity} while held out")
        return ax

    def errors(self, ax: Axes | None = None) -> Axes:
        """Draw the error of each method on the same splits, with its 95 % interval."""
        ax = _axes_or_new(ax)
        table = self._results.tables["controls"]
        rows = table[table["mu"].isna() & table["error"].notna()].sort_values("error")
        colours = [GENESIG_COLOUR if name == "genesig" else INK for name in rows["model"]]
        positions = np.arange(len(rows))
        ax.hlines(positions, rows["low"], rows["high"], colors=colours, lw=1.6)
        ax.scatter(rows["error"], positions, s=44, c=colours, zorder=3)
        ax.set_yticks(positions, rows["model"])
        ax.invert_yaxis()
        ax.set_xlabel("error of held-out samples")
        return ax

    def permutations(self, ax: Axes | None = None) -> Axes:
        """Draw the errors of the whole procedure with permuted labels, and the observed one."""
        ax = _axes_or_new(ax)
        table = self._results.tables["controls"]
        genesig_rows = table[(table["model"] == "genesig") & table["mu"].isna()]
        ax.hist(self._results.null, bins=20, color=GREY, alpha=0.75)
        observed = float(genesig_rows["error"].iloc[0])
        ax.axvline(observed, color=GENESIG_COLOUR, lw=2.2, label="observed")
        ax.set(xlabel="error with permuted labels", ylabel="permutations")
        ax.legend(frameon=False)
        return ax

    def frequency(self, ax: Axes | None = None, top: int = 30) -> Axes:
        """Draw the CV frequency of each signature gene: the share of splits that selected it.

        Green: FDR-selected genes, or core genes if the study has no stability selection.
        """
        ax = _axes_or_new(ax)
        rows = self._results.tables["signature"].head(top)
        highlighted = rows["fdr_selected"] if "fdr_selected" in rows else rows["core"]
        colours = [GENESIG_COLOUR if is_highlighted else GREY for is_highlighted in highlighted]
        positions = np.arange(len(rows))
        ax.barh(positions, rows["cv_frequency"], color=colours)
        labels = [gene_label(*pair, 32) for pair in zip(rows["gene"], rows["symbol"], strict=True)]
        ax.set_yticks(positions, labels)
        ax.invert_yaxis()
        ax.set(xlabel="CV frequency", xlim=(0, 1))
        return ax

    def heat(self, ax: Axes | None = None, top: int = 60) -> Axes:
        """Draw the standardised values of the signature's genes, samples by their response."""
        ax = _axes_or_new(ax)
        data = self._results.signature
        y = self._response(data.obs)
        order = np.argsort(y, kind="stable")
        X = dense(data.X, "signature.h5ad")[:, :top]
        var = data.var.iloc[:top]
        deviation = X.std(axis=0)
        standardised = ((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1))[order].T
        image = ax.imshow(
            standardised, cmap=diverging(), vmin=-3, vmax=3, aspect="auto", interpolation="none"
        )
        ax.figure.colorbar(image, ax=ax, label="standard deviations from the gene's mean")
        gene_names = zip(var.index, var["symbol"], strict=True)
        ax.set_yticks(
            np.arange(len(var)), [gene_label(*pair, 24) for pair in gene_names], fontsize=7
        )
        for edge in np.flatnonzero(np.diff(y[order])) if self._results.model["classes"] else ():
            ax.axvline(edge + 0.5, color=INK, lw=1.6)
        ax.set_xlabel(f"{data.n_obs} samples by {shorten(self._label(), 24)}")
        return ax

    def gene(self, name: str, ax: Axes | None = None) -> Axes:
        """Draw the values of one gene of the signature, by class or against the response."""
        data = self._results.signature
        if name not in data.var_names:
            raise input_error("gene", f"'{name}' is not in the signature of {data.n_vars} genes")
        ax = _axes_or_new(ax)
        y = self._response(data.obs)
        values = dense(data.X, "signature.h5ad")[:, data.var_names.get_loc(name)]
        ax.set_ylabel(gene_label(name, str(data.var["symbol"][name]), 32))
        if self._results.model["classes"] is None:
            ax.scatter(y, values, s=14, color=GENESIG_COLOUR, lw=0)
            ax.set_xlabel(self._label())
        else:
            classes = self._classes("gene")
            _draw_strips(
                ax, [values[y == class_number] for class_number in range(len(classes))], classes
            )
        return ax

    def _held_out(self) -> pd.DataFrame:
        """Return the held-out predictions, without those of nested lists."""
        table = self._results.tables["predictions"]
        return table[table["mu"].isna()]

    def _classes(self, plot: str) -> tuple[str, ...]:
        """Return the names of the classes for a plot; raise if the study has none."""
        if self._results.model["classes"] is None:
            raise input_error(f"plot.{plot}", "is of classes; this study predicts another kind")
        return self._class_names()

    def _class_names(self) -> tuple[str, ...]:
        """Return the names of the classes, () without any; of two, the negative comes first."""
        classes = self._results.model["classes"] or ()
        return (
            (classes["negative"], classes["positive"])
            if isinstance(classes, dict)
            else tuple(classes)
        )

    def _label(self) -> str:
        """Return the column of the label; of survival, that of the times."""
        return label_columns(self._results.record["config"]["label"])[0]

    def _response(self, obs: pd.DataFrame) -> Array:
        """Return class numbers from 0, or the numeric response, (n,)."""
        column = obs[self._label()].astype(str)
        if self._results.model["classes"] is None:
            return _numeric_response(column)
        classes = self._class_names()
        return np.array([classes.index(name) for name in column])


def _numeric_response(column: pd.Series[Any]) -> Array:
    """Return a response as numbers; raise for words, such as times in which `12+` is censored."""
    try:
        return column.astype(float).to_numpy()
    except ValueError:
        raise input_error("plot", "is of classes or numbers; this response is neither") from None


def _axes_or_new(ax: Axes | None) -> Axes:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _draw_strips(ax: Axes, values: list[Array], names: Sequence[str]) -> None:
    """Draw the values of each class as a column of dots, with reproducible horizontal offsets."""
    for class_number, class_values in enumerate(values):
        offsets = (np.argsort(np.argsort(class_values)) * GOLDEN_RATIO_STEP % 1 - 0.5) * 0.5
        ax.scatter(
            class_number + offsets,
            class_values,
            s=20,
            marker=CLASS_MARKERS[class_number],
            color=CLASS_COLOURS[class_number],
            lw=0,
        )
    ax.set_xticks(range(len(names)), [shorten(name, 24) for name in names])

"""The plots of survival and of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anndata
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.metrics import confusion_matrix, roc_auc_score
from study_data import study_of

from genesig import InvalidInput
from genesig.notebook.plots import Plots
from genesig.selection.assess.survival import kaplan_meier
from genesig.selection.survival import SampleMeans, _curves_table

mpl.use("agg")
CLASSES = ["well", "ill", "worse"]


@dataclass
class Told:
    """What `Results` reads, of a study drawn at random."""

    tables: dict[str, pd.DataFrame]
    signature: Any
    model: dict[str, Any]
    record: dict[str, Any]
    null: Any = None


def means_of(response: Any) -> SampleMeans:
    """Return samples with these times and events, and no predictions."""
    unknown = np.full(len(response), np.nan)
    return SampleMeans(response, unknown, unknown, unknown[:, None], unknown[:, None], None)


def make_results(kind: str) -> Told:
    dataset = study_of(kind, 3, n=30, d=6)
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {
            "sample": np.tile(dataset.samples, 2),
            "repeat": np.repeat([1, 2], 30),
            "label": np.tile(dataset.obs["state"], 2),
            "mu": np.nan,
        }
    )
    tables = {}
    classes = None
    if kind == "several_classes":
        classes = CLASSES
        f = rng.normal(size=(60, 3)) + (rows["label"].to_numpy()[:, None] == np.array(CLASSES))
        rows[[f"score of {name}" for name in CLASSES]] = f
        rows["predicted"] = np.array(CLASSES)[f.argmax(axis=1)]
    else:
        rows["score"] = rng.normal(size=60)
        group = np.where(np.arange(30) % 2 > 0, "high", "low").astype(object)
        tables["survival_curves"] = _curves_table(means_of(dataset.response()), group)
    var = pd.DataFrame({"symbol": dataset.genes}, index=dataset.genes)
    data = anndata.AnnData(dataset.X, dataset.obs, var)
    return Told(
        {"predictions": rows, **tables},
        data,
        {"task": kind, "classes": classes},
        {"config": {"label": "state"}},
    )


def test_confusion_plot_counts_held_out_samples() -> None:
    results = make_results("several_classes")
    ax = Plots(results).confusion()
    rows = results.tables["predictions"]
    counts = confusion_matrix(rows["label"], rows["predicted"], labels=CLASSES) / 2
    labels_shown = [text.get_text().split("\n")[0] for text in ax.texts]
    assert labels_shown == [f"{count:.3g}" for count in counts.ravel()]
    plt.close("all")


def test_each_class_has_a_curve_against_the_others() -> None:
    results = make_results("several_classes")
    ax = Plots(results).roc()
    lines = iter(ax.lines[1:])
    for _, rows in results.tables["predictions"].groupby("repeat"):
        for name in CLASSES:
            line = next(lines)
            area = roc_auc_score(rows["label"] == name, rows[f"score of {name}"])
            assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(area)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == CLASSES
    plt.close("all")


@pytest.mark.parametrize("kind", ["several_classes", "survival"])
def test_scores_genes_and_heat_are_drawn(kind: str) -> None:
    plot = Plots(make_results(kind))
    for ax in (plot.scores(), plot.heat(), plot.gene("g1")):
        assert ax.has_data()
        ax.figure.canvas.draw()
    plt.close("all")


def test_risk_curves_equal_kaplan_meier() -> None:
    results = make_results("survival")
    ax = Plots(results).survival()
    y = study_of("survival", 3, n=30, d=6).response()
    high = np.arange(30) % 2 > 0
    curve = kaplan_meier(y["time"][high], y["event"][high])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1, *curve.value])
    assert ax.get_legend().get_texts()[0].get_text() == "high risk (15)"
    plt.close("all")


def test_plot_of_another_kind_is_refused() -> None:
    for name in ("roc", "confusion"):
        with pytest.raises(InvalidInput, match=f"plot.{name}: is of classes"):
            getattr(Plots(make_results("survival")), name)()
    with pytest.raises(InvalidInput, match=r"plot\.survival: is of times"):
        Plots(make_results("several_classes")).survival()

"""What `score_cohort` would say of a data set of another study, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from genesig.results import Dataset
from genesig.selection.assess.calibration import reliability
from genesig.selection.assess.held_out import decisions
from genesig.selection.model.external_scores import numbers, scores_table, two_classes


def make_about(dataset: Dataset, name: str = "other", *, n: int = 25, genes: int = 7,
               combat: bool = False, one_class: bool = False, seen_before: int = 0,
               shift: float = 0.4) -> dict[str, Any]:  # fmt: skip
    rng = np.random.default_rng(3)
    classes = dataset.design.classes
    y = np.where(np.arange(n) % 3 > 0, 1.0, -1.0) if classes else rng.normal(size=n)
    y = np.ones(n) if one_class else y
    f = 0.6 * y + 0.5 * rng.standard_normal(n) + 0.2
    labels = [classes[int(v > 0)] for v in y] if classes else [repr(float(v)) for v in y]
    samples = pd.DataFrame({
        "sample": [f"<i>{k}</i>" for k in range(n)], "given": [f"their {v}" for v in labels],
        "label": labels, **decisions(dataset, y, f), "imputed": 0,
    })  # fmt: skip
    moved = rng.normal(shift, 0.5, genes)
    table = pd.DataFrame({
        "gene": dataset.genes[:genes], "symbol": list(dataset.var["symbol"][:genes]),
        "coef": rng.normal(size=genes), "training_mean": 8.0, "training_sd": 1.0,
        "mean": 8 + moved, "sd": 1.0, "shift": moved, "score_shift": 0.1 * moved, "imputed": 0,
    })  # fmt: skip
    edges = np.linspace(-3, 4, 41)
    counts = np.histogram(rng.normal(shift, 0.6, 5000).clip(-3, 4), edges)[0].tolist()
    bars = {"genes": 5000, "counts": counts, "median": abs(shift), "beyond": 0.2}
    return {
        "name": name, "file": "other.tsv",
        "classes": {c: labels.count(c) for c in classes} if classes else None,
        "dropped": [{"kind": "sample", "name": "z", "reason": "no label in column 'a & b'"}],
        "inputs": {"other.tsv": "0" * 64}, "warnings": ["other.tsv: <b>odd</b>"],
        "combat": combat, "batches": 1, "missing": 0.1, "needed": genes, "absent": 0, "imputed": 0,
        "seen_before": seen_before,
        "shift": {"by_chance": 0.3, "edges": edges.tolist(), "measured": bars, "scored": bars},
        "quantiles": {"share": np.linspace(0, 1, 41).tolist(), "training": list(range(41)),
                      "cohort": list(range(41))},
        "reliability": list(reliability(y, f)) if classes else [],
        "predictions": samples.to_dict("records"),
        "scores": scores_table(two_classes(y, f, 0.0) if classes else numbers(y, f))
        .replace({np.nan: None})
        .to_dict("records"),
        "genes": table.to_dict("records"),
    }  # fmt: skip

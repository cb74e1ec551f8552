"""The part of report_data.json about the quality of the samples: what of quality.json is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.page.rounding import rounded
from genesig.report.page.thinning import MOST_SAMPLES, spread
from genesig.report.page.words import clean, counted, percent, shorten

if TYPE_CHECKING:
    from genesig.results import Dataset

Array = np.ndarray[Any, Any]
Data = Mapping[str, Any]

MOST_COLUMNS = 30
# A component goes with a column rather than with the label: share of its variance, less what
# chance gives, at least; by how much more than the label's; largest adjusted p.
STRONG, MORE, CREDIBLE = 0.25, 0.1, 0.05


def quality(found: Data, dataset: Dataset) -> dict[str, Any]:
    """Put the samples in the order of the figures, cap what is heavy, choose what to colour by."""
    rows, total = _order(found, dataset), len(dataset.samples)
    place = {row: at for at, row in enumerate(rows)}
    outliers = found["outliers"]["samples"]
    second = _second(found)
    points = np.array(found["components"]["points"], dtype=float).reshape(total, -1)
    tested = sorted(found["associations"], key=_rank)
    return {
        **{key: found[key] for key in ("batch", "scale", "steps", "genes", "skipped")},
        "missing": {k: found["missing"][k] for k in ("total", "genes", "worst")},
        "kind": found["size"]["kind"],
        "samples": [dataset.samples[row] for row in rows],
        "total": total,
        "response": rounded(dataset.response()[rows], 5),
        "batches": None if found["batch"] is None else _cells(dataset, found["batch"], rows),
        "before": _look(found["before"], rows),
        "after": _look(found["after"], rows),
        "changed": bool(found["steps"]),
        "size": _taken(found["size"]["values"], rows),
        "detected": _taken(found["size"]["detected"], rows),
        "rules": {
            rule["name"]: _taken(rule["values"], rows) for rule in found["outliers"]["rules"]
        },
        "lost": _taken(found["missing"]["samples"], rows),
        "outliers": [{**one, "row": place[one["row"]]} for one in outliers],
        "components": {
            "points": rounded(points[rows, :3], 4),
            "explained": rounded(found["components"]["explained"], 4),
            "scaled": found["components"]["scaled"],
        },
        "associations": tested[:MOST_COLUMNS],
        "columns": len(tested),
        "second": second
        and {"column": second["column"], "kind": second["kind"],
             "values": _cells(dataset, second["column"], rows)},
        "follows": _follows(found),
    }  # fmt: skip


def _order(found: Data, dataset: Dataset) -> list[int]:
    """Sort by batch, then by response; of very many samples keep some, and every outlier."""
    batch = np.zeros(len(dataset.samples), dtype=int)
    if found["batch"] is not None:
        names = dataset.obs[found["batch"]].astype(str).to_numpy(dtype=object)
        batch = np.unique(names, return_inverse=True)[1]
    order: list[int] = np.lexsort((dataset.response(), batch)).tolist()
    kept = {order[at] for at in spread(len(order), MOST_SAMPLES)}
    kept |= {one["row"] for one in found["outliers"]["samples"]}
    return [row for row in order if row in kept]


def _cells(dataset: Dataset, column: str, rows: Sequence[int]) -> list[str]:
    values = dataset.obs[column].astype(str).to_list()
    return [values[row] for row in rows]


def _taken(values: Sequence[Any] | None, rows: Sequence[int]) -> list[Any] | None:
    return None if values is None else list(rounded([_number(values[row]) for row in rows], 5))


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _look(found: Data, rows: Sequence[int]) -> dict[str, Any]:
    bands = {
        key: rounded(np.array(found[key], dtype=float)[rows], 4) for key in ("quantiles", "rle")
    }
    return {**{key: found[key] for key in ("genes", "compared", "logarithm")}, **bands}


def _rank(one: Data) -> tuple[bool, bool, float]:
    """Sort the label first, the batch next, then the columns by what they explain."""
    return (one["role"] != "label", one["role"] != "batch", -_most(one))


def _most(one: Data) -> float:
    return max((value or 0.0 for value in one["adjusted"][:2]), default=0.0)


def _second(found: Data) -> Data | None:
    """Choose the column beside the label for the picture: the batch, else the one that shows."""
    others = [one for one in found["associations"] if one["role"] != "label"]
    batch = [one for one in others if one["role"] == "batch"]
    best: Data | None = next(iter([*batch, *sorted(others, key=_rank)]), None)
    return best


def _follows(found: Data) -> dict[str, Any] | None:
    """Name the column that the first component goes with rather than with the label, if any.

    Patients and pairs are kept whole by the splits, and a column whose values each occur with one
    label only is a finer label as well as it may be a fault; neither is named, but a batch is.
    """
    tested = [one for one in found["associations"] if one["adjusted"][0] is not None]
    label = next((one["adjusted"][0] for one in tested if one["role"] == "label"), 0.0)
    rivals = [
        one
        for one in tested
        if (one["role"] == "batch" or (one["role"] == "" and not one["within_label"]))
        and one["q"][0] < CREDIBLE
        and one["adjusted"][0] >= max(STRONG, label + MORE)
    ]
    if not rivals:
        return None
    best = max(rivals, key=lambda one: (one["adjusted"][0], one["role"] == "batch"))
    return {"column": best["column"], "share": best["adjusted"][0], "label": label,
            "explained": found["components"]["explained"][0]}  # fmt: skip


def quality_warnings(data: Data, said: Sequence[str]) -> list[str]:
    """Return one sentence for the first screen if something is wrong, none otherwise.

    What the validation said of values that were never logged is not said again.
    """
    it = data["quality"]
    found = [_of_outliers(it), _of_component(it, data["study"]["label"])]
    raw = it["scale"]["raw"] and it["scale"]["taken"] is None
    if raw and it["after"]["logarithm"] and not any("never logged" in one for one in said):
        found.append("the values were never logged")
    words = "; ".join(one for one in found if one)
    return [f"Quality of the samples: {words}."] if words else []


def _of_outliers(it: Data) -> str:
    outliers = it["outliers"]
    if not outliers:
        return ""
    names = ", ".join(shorten(one["sample"], 20) for one in outliers[:5])
    more = " …" if len(outliers) > 5 else ""
    lie = "lies" if len(outliers) == 1 else "lie"
    return f"{counted(len(outliers), 'sample')} {lie} far from the others ({names}{more})"


def _of_component(it: Data, label: str) -> str:
    one = it["follows"]
    if one is None:
        return ""
    return (
        f"the largest component ({percent(one['explained'])} of the variance) goes with"
        f" {clean(one['column'])} ({percent(one['share'])} of it) rather than with"
        f" {clean(label)} ({percent(one['label'])}); if that is how samples were handled, it may"
        " stand in for the label or hide it"
    )

"""How the processor time of a study grows: what its jobs took beside what it announces.

    python benchmarks/speed/study_growth.py PICTURE

Simulated chips (`study_cost.py`), default settings without nonlinear selection; one of samples,
genes, permutations and studies grows, two studies run at a time. Prints a line for each, and the
power of each growth over its last step; draws both.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import yaml
from study_cost import run_study

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.study.cost import Size, study_costs
from genesig.results import Dataset, Splits

mpl.use("Agg")
import matplotlib.pyplot as plt


class Point(NamedTuple):
    """The sizes of a study; one without `studies` is one study."""

    samples: int = 100
    genes: int = 5000
    permutations: int = 20
    studies: int = 0


SERIES = {
    "samples": [Point(samples=n) for n in (50, 100, 200, 400)],
    "genes": [Point(genes=d) for d in (1250, 5000, 20000)],
    "permutations": [Point(permutations=b) for b in (5, 20, 80)],
    "studies": [Point(samples=240, studies=k) for k in (3, 6, 12)],
}


def minutes(point: Point) -> tuple[float, float]:
    """Run a study; return processor minutes of its jobs, measured and announced."""
    with tempfile.TemporaryDirectory() as name:
        jobs = run_study(Path(name), *point, ["nonlinear.enabled=false"], [])
        config = yaml.safe_load((Path(name) / "config/config.yaml").read_text())
        dataset = Dataset.load(f"{name}/results/dataset.h5ad")
        splits = Splits.load(f"{name}/results/splits.json")
    size = Size.from_splits(splits, len(dataset.genes), dataset.design)
    predicted_costs = study_costs(resolve_config(config, load_schema()), size)
    return sum(job[1] for job in jobs) / 60, sum(
        cost.total_seconds for cost in predicted_costs.values()
    ) / 60


def draw(minutes_of_point: dict[Point, tuple[float, float]], picture: str) -> None:
    """Draw the minutes over each size, both on logarithmic scales."""
    figure, panels = plt.subplots(1, 4, figsize=(7.0, 2.2), sharey=True, layout="constrained")
    for panel, (name, points) in zip(panels, SERIES.items(), strict=True):
        x = [getattr(point, name) for point in points]
        measured, predicted = np.array([minutes_of_point[point] for point in points]).T
        panel.loglog(x, predicted, color="0.5", label="announced")
        panel.loglog(x, measured, "o", color="#0072b2", markersize=4, label="measured")
        panel.set_xlabel(name)
        panel.set_xticks(x, [f"{tick:g}" for tick in x])
        panel.minorticks_off()
    panels[0].set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    panels[0].set_ylabel("minutes of a processor")
    panels[0].legend(frameon=False)
    figure.savefig(picture, dpi=150)


def main(picture: str) -> None:
    """Run all studies, print and draw what they took."""
    points = list(dict.fromkeys(point for series in SERIES.values() for point in series))
    with ThreadPoolExecutor(2) as pool:
        minutes_of_point = dict(zip(points, pool.map(minutes, points), strict=True))
    print("\t".join(["grows", *Point._fields, "measured", "announced"]))
    for name, points in SERIES.items():
        for point in points:
            print(
                "\t".join([name, *map(str, point), *(f"{v:.2f}" for v in minutes_of_point[point])])
            )
        before, last_point = points[-2:]
        step = np.log(getattr(last_point, name) / getattr(before, name))
        measured, predicted = (
            np.log(minutes_of_point[last_point][k] / minutes_of_point[before][k]) / step
            for k in (0, 1)
        )
        print(f"{name}: power {measured:.2f}, announced {predicted:.2f}")
    draw(minutes_of_point, picture)


if __name__ == "__main__":
    mpl.rcParams.update({"font.size": 7, "axes.spines.top": False, "axes.spines.right": False})
    main(sys.argv[1])

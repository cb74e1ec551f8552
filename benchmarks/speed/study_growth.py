"""Growth of a study's processor time, as measured and as announced by genesig.

    python benchmarks/speed/study_growth.py PICTURE

Simulated chips (`study_cost.py`), default settings without nonlinear selection; one of samples,
genes, permutations and studies grows, two studies run at a time. It prints a line for each study,
and the power of each growth over its last step; PICTURE shows measured and announced minutes.
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


class Sizes(NamedTuple):
    """The sizes of a study; studies 0: a study without studies."""

    samples: int = 100
    genes: int = 5000
    permutations: int = 20
    studies: int = 0


SERIES = {
    "samples": [Sizes(samples=n) for n in (50, 100, 200, 400)],
    "genes": [Sizes(genes=d) for d in (1250, 5000, 20000)],
    "permutations": [Sizes(permutations=b) for b in (5, 20, 80)],
    "studies": [Sizes(samples=240, studies=k) for k in (3, 6, 12)],
}


def run_minutes(sizes: Sizes) -> tuple[float, float]:
    """Run a study; return the measured and the announced processor minutes of its jobs."""
    with tempfile.TemporaryDirectory() as name:
        jobs = run_study(Path(name), *sizes, ["nonlinear.enabled=false"], [])
        config = yaml.safe_load((Path(name) / "config/config.yaml").read_text())
        dataset = Dataset.load(f"{name}/results/dataset.h5ad")
        splits = Splits.load(f"{name}/results/splits.json")
    size = Size.from_splits(splits, len(dataset.genes), dataset.design)
    announced_costs = study_costs(resolve_config(config, load_schema()), size)
    measured = sum(seconds for _, seconds, _ in jobs)
    announced = sum(cost.total_seconds for cost in announced_costs.values())
    return measured / 60, announced / 60


def draw(minutes_of_sizes: dict[Sizes, tuple[float, float]], picture: str) -> None:
    """Draw measured and announced minutes by each size, both on logarithmic scales."""
    figure, panels = plt.subplots(1, 4, figsize=(7.0, 2.2), sharey=True, layout="constrained")
    for panel, (name, series_sizes) in zip(panels, SERIES.items(), strict=True):
        x = [getattr(sizes, name) for sizes in series_sizes]
        measured, announced = np.array([minutes_of_sizes[sizes] for sizes in series_sizes]).T
        panel.loglog(x, announced, color="0.5", label="announced")
        panel.loglog(x, measured, "o", color="#0072b2", markersize=4, label="measured")
        panel.set_xlabel(name)
        panel.set_xticks(x, [f"{tick:g}" for tick in x])
        panel.minorticks_off()
    panels[0].set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    panels[0].set_ylabel("minutes of a processor")
    panels[0].legend(frameon=False)
    figure.savefig(picture, dpi=150)


def main(picture: str) -> None:
    """Run all studies, print and draw their minutes."""
    all_sizes = list(dict.fromkeys(sizes for series in SERIES.values() for sizes in series))
    with ThreadPoolExecutor(2) as pool:
        minutes_of_sizes = dict(zip(all_sizes, pool.map(run_minutes, all_sizes), strict=True))
    print("\t".join(["grows", *Sizes._fields, "measured", "announced"]))
    for name, series_sizes in SERIES.items():
        for sizes in series_sizes:
            minutes = [f"{value:.2f}" for value in minutes_of_sizes[sizes]]
            print("\t".join([name, *map(str, sizes), *minutes]))
        previous, largest = series_sizes[-2:]
        step = np.log(getattr(largest, name) / getattr(previous, name))
        growth = np.log(np.divide(minutes_of_sizes[largest], minutes_of_sizes[previous]))
        measured, announced = growth / step
        print(f"{name}: power {measured:.2f}, announced {announced:.2f}")
    draw(minutes_of_sizes, picture)


if __name__ == "__main__":
    mpl.rcParams.update({"font.size": 7, "axes.spines.top": False, "axes.spines.right": False})
    main(sys.argv[1])

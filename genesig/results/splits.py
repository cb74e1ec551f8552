"""The splits of a study, by sample name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from genesig.results.files import load_json, save_json


@dataclass(frozen=True)
class Split:
    """One outer split: names of its training and test samples and its inner folds.

    `inner` holds the validation samples of each inner fold; the rest of `train` trains.
    `seed` is the spawn key under the study's seed, enough to draw the split again.
    """

    name: str
    repeat: int
    fold: int
    train: tuple[str, ...]
    test: tuple[str, ...]
    inner: tuple[tuple[str, ...], ...]
    seed: tuple[int, ...]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Split:
        """Build a split from its JSON object."""
        inner = tuple(tuple(fold) for fold in raw["inner"])
        lists = {key: tuple(raw[key]) for key in ("train", "test", "seed")}
        return cls(raw["name"], raw["repeat"], raw["fold"], inner=inner, **lists)


@dataclass(frozen=True)
class Splits:
    """Every split of the study.

    `outer` assess the procedure; `final` trains on all samples (its `test` is empty);
    `subsamples` are halves of the samples for stability (no test); 2i and 2i + 1 are disjoint, a
    pair.
    """

    scheme: str
    inner_scheme: str
    seed: int
    outer: tuple[Split, ...]
    final: Split
    subsamples: tuple[Split, ...]

    def save(self, path: str | Path) -> None:
        """Write the splits as JSON, by sample name."""
        save_json(path, {"version": 1, **asdict(self)})

    @classmethod
    def load(cls, path: str | Path) -> Splits:
        """Read what `save` wrote."""
        return cls.of(load_json(path))

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Splits:
        """Build the splits from their JSON object."""
        many = {key: tuple(map(Split.of, raw[key])) for key in ("outer", "subsamples")}
        return cls(
            raw["scheme"], raw["inner_scheme"], raw["seed"], final=Split.of(raw["final"]), **many
        )

"""Child seeds of the study's one seed, by place and never by order of work."""

from __future__ import annotations

from typing import Any

import numpy as np

# The first number of a spawn key. A number, once given, keeps its meaning for good: the splits and
# permutations of earlier studies depend on it.
OUTER_SPLIT = 1
INNER_FOLD = 2
SUBSAMPLE = 3
PERMUTATION = 4
BASELINE = 5
RESAMPLE = 6
SET_WEIGHTS = 7
MODULE = 8
HALF = 9
CHANCE = 10
RANDOM_LIST = 11

Key = tuple[int, int, int, int]


def spawn_key(stage: int, *, permutation: int = 0, split: int = 0, fold: int = 0) -> Key:
    """Return the spawn key (stage, permutation, split, fold) of one random choice."""
    return stage, permutation, split, fold


def generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """Return the generator of one random choice: ``SeedSequence(seed, spawn_key=key)``."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def random_state(seed: int, key: tuple[int, ...]) -> int:
    """Return the 32 bits that scikit-learn takes as ``random_state`` for one random choice."""
    state: Any = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0])

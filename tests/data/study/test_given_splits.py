"""Each unusable half or fold of given splits gives one problem."""

from __future__ import annotations

from dataclasses import replace

from settings import SPLITS
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.data.splits.folds import Samples
from genesig.data.splits.given import inner_faults


def test_a_half_of_one_class_is_one_problem_and_so_is_a_fold_of_another() -> None:
    dataset = study_of("classification", 0)
    splits = draw_splits(dataset, seed=0, **{**SPLITS, "subsamples": 4})
    ill = tuple(name for name, state in dataset.obs["state"].items() if state == "ill")
    first_half, second, *other_halves = splits.subsamples
    well = tuple(name for name in second.train if name not in ill)
    halves = (
        replace(first_half, train=ill, inner=((),)),
        replace(second, inner=(well,)),
        *other_halves,
    )
    problems = list(inner_faults(Samples.from_dataset(dataset), replace(splits, subsamples=halves)))
    single_problems = [problem for problem in problems if " and " not in problem.location]
    assert [problem.location for problem in single_problems] == [
        f"subsample {first_half.name}",
        f"subsample {second.name}, inner fold 1",
    ]
    assert all("training samples" in problem.message for problem in single_problems)

"""Check whether the samples can be split as the config says.

A `Sheet` is the checked sample table: `obs` (index = sample names, cells as strings), and the
design. `file` is its file, for messages, which name the first fault and count the others. Units are
groups if there are groups, otherwise samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from genesig.data.files.names import Config
from genesig.data.splits.draw import BATCH_SCHEMES
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem, did_you_mean
from genesig.response.decision import SENSITIVITY, SPECIFICITY
from genesig.response.kinds import RESPONSES
from genesig.results import Splits
from genesig.words import counted, further_text, listing

if TYPE_CHECKING:
    import pandas as pd


SPLIT_SIDES = ("train", "test")


def check_design(sheet: Sheet, config: Config, file: str) -> Iterator[Problem]:
    """Yield a problem for too few units, or for faulty pairs, groups or predefined sides.

    Of several classes with too few units the rarest is reported.
    """
    if sheet.design.pair is not None:
        yield from _check_pairs(sheet, file) if sheet.design.classes else ()  # else refused
    elif LABEL_RULES[sheet.design.kind].one_response_per_group and sheet.design.group is not None:
        yield from _check_groups(sheet, file)
    splits = config["splits"]
    obs = sheet.obs
    if splits["file"] is not None:
        return
    train = obs
    if splits["scheme"] == "predefined" and splits["column"] in obs.columns:
        side_faults = list(_check_sides(sheet, splits["column"], file))
        yield from side_faults
        if side_faults:
            return
        train = obs[obs[splits["column"]] == "train"]
    unit_problems: list[tuple[int, Problem]] = []  # (number of units, problem)
    for name, n_units in _count_units(train, sheet).items():
        n_left = _smallest_training_size(n_units, splits["scheme"], splits["folds"])
        if splits["scheme"] in BATCH_SCHEMES and sheet.design.batch is not None:
            batch_of_sample = train[sheet.design.batch]
            n_left = min(
                _count_units(train[batch_of_sample != left_out], sheet)[name]
                for left_out in set(batch_of_sample)
            )
        unit_faults = _check_units(name, n_units, n_left, sheet, splits, file)
        unit_problems += [(n_units, problem) for problem in unit_faults]
    if unit_problems:
        _, rarest_problem = min(unit_problems, key=lambda counted_problem: counted_problem[0])
        yield Problem(
            rarest_problem.location,
            rarest_problem.message + further_text(len(unit_problems) - 1, "class"),
        )


def check_tested_classes(sheet: Sheet, splits: Splits, file: str) -> Iterator[Problem]:
    """Yield a warning for a class that no test set contains."""
    design = sheet.design
    tested_samples = {name for split in splits.outer for name in split.test}
    tested_classes = set(
        sheet.obs[design.label][[name in tested_samples for name in sheet.obs.index]]
    )
    for name in design.classes or ():
        if tested_samples and name not in tested_classes:
            message = (
                f"no test sample is '{name}', so that balanced error and AUC are not defined; "
                "test on samples of both classes"
            )
            yield Problem(f"{file}, column '{design.label}'", message, "warning")


def check_training_classes(
    sheet: Sheet, splits: Splits, decision: Config, source: str
) -> Iterator[Problem]:
    """Yield a warning if a class has too few training samples for its wanted rate of correct calls.

    The rate is the sensitivity or the specificity. Samples of one group count once.

    decision: section ``decision`` of the config.
    source: name of the config in messages.
    """
    design = sheet.design
    # Classes are (negative, positive); `check_decision` refuses a rate for any others.
    for rate, class_name in zip((SPECIFICITY, SENSITIVITY), design.classes or (), strict=False):
        target = decision[rate]
        if target is None:
            continue
        class_samples = sheet.obs.index[sheet.obs[design.label] == class_name]
        unit_of_sample = (
            class_samples.to_series()
            if design.group is None
            else (sheet.obs.loc[class_samples, design.group])
        )
        size = min(
            unit_of_sample[class_samples.isin(split.train)].nunique()
            for split in (*splits.outer, splits.final)
        )
        unit = "sample" if design.group is None else "group"
        # The score of a new sample lies below all of them with probability 1/(size + 1).
        if target > size / (size + 1):
            message = (
                f"{rate} {target:g} needs more than the {counted(size, unit)} of '{class_name}'"
                f" in the smallest training set, which allow {size / (size + 1):.3g}; ask for that"
                " or less"
            )
            yield Problem(f"{source}, decision", message, "warning")


def _count_units(obs: pd.DataFrame, sheet: Sheet) -> dict[str, int]:
    """Return the number of units for each requirement: every class, or the event of survival.

    Requirements are named as in ``Response.required_samples``, ``"class 'case'"``.
    """
    design = sheet.design
    response_kind = RESPONSES[sheet.design.kind]
    unit_of_sample = obs.index.to_series() if design.group is None else obs[design.group]
    required_rows = response_kind.required_samples(response_kind.read(obs, design), design.classes)
    return {
        requirement: int(unit_of_sample[rows].nunique())
        for requirement, rows in required_rows.items()
    }


def _check_units(
    name: str, n_units: int, n_left: int, sheet: Sheet, splits: Config, file: str
) -> Iterator[Problem]:
    """Yield a problem if a requirement, such as ``"class 'case'"``, has too few units.

    name: the requirement. n_left: number of its units in the smallest training set.
    splits: section ``splits`` of the config.
    """
    group = sheet.design.group
    scheme = splits["scheme"]
    folds = splits["folds"]
    label_location = f"{file}, column '{sheet.design.label}'"
    subject = f"{name} has {counted(n_units, 'sample' if group is None else 'group')}"
    subject += f" (column '{group}')" if group is not None else ""
    subject += " to train on" if scheme == "predefined" else ""
    is_kfold = scheme in ("stratified_kfold", "stratified_group_kfold")
    if n_units < 3:
        yield Problem(label_location, f"{subject}; nested cross-validation needs at least 3")
    elif is_kfold and n_units < folds:
        leave_one_out_scheme = "leave_one_out" if group is None else "leave_one_group_out"
        advice = (
            f"set splits.folds to {n_units} or less, or splits.scheme to {leave_one_out_scheme}"
        )
        yield Problem(label_location, f"{subject}, splits.folds is {folds}; {advice}")
    elif n_left < 2:
        yield Problem(
            label_location, f"{subject}, of which {n_left} may be left to train on; 2 are needed"
        )
    elif splits["inner_scheme"] == "stratified_kfold" and n_left < splits["inner_folds"]:
        advice = f"set splits.inner_folds to {n_left} or less, or splits.inner_scheme to "
        message = (
            f"{subject}, of which {n_left} may be left to train on, splits.inner_folds is "
            f"{splits['inner_folds']}; {advice}leave_one_out"
        )
        yield Problem(label_location, message)


def _smallest_training_size(n_units: int, scheme: str, n_folds: int) -> int:
    """Return how many of the units the smallest training set has.

    n_units: of the training side if the scheme is "predefined". n_folds: of k-fold schemes.
    """
    if scheme == "predefined":
        return n_units
    return n_units - ceil(n_units / n_folds) if scheme.endswith("kfold") else n_units - 1


def _check_pairs(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a problem if a pair is not one sample of each class."""
    pair = sheet.design.pair
    label = sheet.design.label
    labels_of_faulty_pair = {
        str(name): sorted(members[label])
        for name, members in sheet.obs.groupby(pair, sort=False)
        if len(members) != 2 or members[label].nunique() != 2
    }
    for name, labels in list(labels_of_faulty_pair.items())[:1]:
        pair_text = f"{counted(len(labels), 'sample')} ({', '.join(labels)})"
        further_pairs = further_text(len(labels_of_faulty_pair) - 1, "pair")
        message = (
            f"data.pair: pair '{name}' has {pair_text}, needs one of each class{further_pairs}"
        )
        yield Problem(f"{file}, column '{pair}'", message)


def _check_groups(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a problem if samples of one group have different responses."""
    response_kind = RESPONSES[sheet.design.kind]
    group = str(sheet.design.group)
    label_cells = response_kind.label_cells(sheet.obs, sheet.design)
    labels_of_group = (
        sheet.obs.assign(shown=label_cells).groupby(group, sort=False)["shown"].unique()
    )
    labels_of_faulty_group = {
        str(name): list(label_texts)
        for name, label_texts in labels_of_group.items()
        if len(label_texts) > 1
    }
    for name, label_texts in list(labels_of_faulty_group.items())[:1]:
        message = (
            f"data.group: '{name}' has {listing(label_texts)}; the samples of one group must have "
            f"one response{further_text(len(labels_of_faulty_group) - 1, 'group')}"
        )
        yield Problem(f"{file}, column '{group}'", message)


def _check_sides(sheet: Sheet, column: str, file: str) -> Iterator[Problem]:
    """Yield the problems of the column that assigns samples to train and test."""
    obs = sheet.obs
    column_location = f"{file}, column '{column}'"
    faulty_words = {
        str(name): str(word) for name, word in obs[column].items() if word not in SPLIT_SIDES
    }
    for name, word in list(faulty_words.items())[:1]:
        further_samples = further_text(len(faulty_words) - 1, "sample")
        suggestion = did_you_mean(word.lower(), SPLIT_SIDES)
        word_text = f"'{word}'" if word else "blank"
        yield Problem(
            column_location,
            f"sample '{name}' is {word_text}, needs train or test{further_samples}{suggestion}",
        )
    if not faulty_words:
        for side in SPLIT_SIDES:
            if side not in set(obs[column]):
                yield Problem(
                    column_location, f"no sample is '{side}'; both train and test are needed"
                )
    group = sheet.design.group
    if group in obs.columns and not faulty_words:
        sides_of_group = obs.groupby(group)[column]
        if split_groups := [str(name) for name, sides in sides_of_group if len(set(sides)) > 1]:
            message = (
                f"{group} {listing(split_groups)} has samples on both sides; keep each on one side"
            )
            yield Problem(column_location, message)

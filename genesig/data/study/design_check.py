"""The samples against the splits that are asked for: whether there are enough of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Any

from genesig.data.study.labels.known import LABELS
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem, did_you_mean
from genesig.response.known import RESPONSES
from genesig.results import Splits
from genesig.words import also, counted, listing, too

if TYPE_CHECKING:
    import pandas as pd

Config = dict[str, Any]
SIDES = ("train", "test")
BY_BATCH = ("leave_one_batch_out", "leave_one_study_out")


def check_design(sheet: Sheet, config: Config, where: str) -> Iterator[Problem]:
    """Yield what keeps the samples of the sheet from being split as the config says.

    Samples are counted in units: groups where there are groups, else single samples.
    """
    if sheet.design.pair is not None:
        yield from _check_pairs(sheet, where) if sheet.design.classes else ()
    elif LABELS[sheet.design.kind].one_of_a_group and sheet.design.group is not None:
        yield from _check_groups(sheet, where)
    splits, obs = config["splits"], sheet.obs
    if splits["file"] is not None:
        return
    train = obs
    if splits["scheme"] == "predefined" and splits["column"] in obs.columns:
        faults = list(_check_sides(sheet, splits["column"], where))
        yield from faults
        if faults:
            return
        train = obs[obs[splits["column"]] == "train"]
    short: list[tuple[int, Problem]] = []
    for name, units in _units(train, sheet).items():
        left = _left_to_train(units, splits["scheme"], splits["folds"])
        if splits["scheme"] in BY_BATCH and sheet.design.batch is not None:
            batch = train[sheet.design.batch]
            left = min(_units(train[batch != out], sheet)[name] for out in set(batch))
        found = _check_units(name, units, left, sheet, splits, where)
        short += [(units, problem) for problem in found]
    if short:
        fewest = min(short, key=lambda each: each[0])[1]
        yield Problem(fewest.where, fewest.what + also(len(short) - 1, "class", "classes"))


def check_tested(sheet: Sheet, splits: Splits, where: str) -> Iterator[Problem]:
    """Yield a class that no test set has: how often it is mistaken is never found out."""
    design = sheet.design
    tested = {name for split in splits.outer for name in split.test}
    found = set(sheet.obs[design.label][[name in tested for name in sheet.obs.index]])
    for name in design.classes or ():
        if tested and name not in found:
            what = f"no test sample is '{name}', so that balanced error and AUC are not defined; "
            what += "test on samples of both classes"
            yield Problem(f"{where}, column '{design.label}'", what, "warning")


def _units(obs: pd.DataFrame, sheet: Sheet) -> dict[str, int]:
    """Count the units of which every training set needs some, such as those of each class."""
    design, kind = sheet.design, RESPONSES[sheet.design.kind]
    unit = obs.index.to_series() if design.group is None else obs[design.group]
    needed = kind.needed(kind.read(obs, design), design.classes)
    return {who: int(unit[inside].nunique()) for who, inside in needed.items()}


def _check_units(
    name: str, units: int, left: int, sheet: Sheet, splits: Config, where: str
) -> Iterator[Problem]:
    group, scheme, folds = sheet.design.group, splits["scheme"], splits["folds"]
    at = f"{where}, column '{sheet.design.label}'"
    who = f"{name} has {counted(units, 'sample' if group is None else 'group')}"
    who += f" (column '{group}')" if group is not None else ""
    who += " to train on" if scheme == "predefined" else ""
    kfold = scheme in ("stratified_kfold", "stratified_group_kfold")
    if units < 3:
        yield Problem(at, f"{who}; at least 3 are needed, to be split outside and inside")
    elif kfold and units < folds:
        alone = "leave_one_out" if group is None else "leave_one_group_out"
        advice = f"set splits.folds to {units} or less, or splits.scheme to {alone}"
        yield Problem(at, f"{who}, splits.folds is {folds}; {advice}")
    elif left < 2:
        yield Problem(at, f"{who}, of which {left} may be left to train on; 2 are needed")
    elif splits["inner_scheme"] == "stratified_kfold" and left < splits["inner_folds"]:
        advice = f"set splits.inner_folds to {left} or less, or splits.inner_scheme to "
        what = f"{who}, of which {left} may be left to train on, splits.inner_folds is "
        yield Problem(at, f"{what}{splits['inner_folds']}; {advice}leave_one_out")


def _left_to_train(units: int, scheme: str, folds: int) -> int:
    """Return how many units the smallest training set has, with folds of like size."""
    if scheme == "predefined":
        return units
    return units - ceil(units / folds) if scheme.endswith("kfold") else units - 1


def _check_pairs(sheet: Sheet, where: str) -> Iterator[Problem]:
    pair, label = sheet.design.pair, sheet.design.label
    wrong = {
        str(name): sorted(members[label])
        for name, members in sheet.obs.groupby(pair, sort=False)
        if len(members) != 2 or members[label].nunique() != 2
    }
    for name, labels in list(wrong.items())[:1]:
        found = f"{counted(len(labels), 'sample')} ({', '.join(labels)})"
        more = too(len(wrong) - 1, "pair")
        what = f"data.pair: pair '{name}' has {found}, needs one of each class{more}"
        yield Problem(f"{where}, column '{pair}'", what)


def _check_groups(sheet: Sheet, where: str) -> Iterator[Problem]:
    kind, group = RESPONSES[sheet.design.kind], str(sheet.design.group)
    shown = kind.shown(sheet.obs, sheet.design)
    found = sheet.obs.assign(shown=shown).groupby(group, sort=False)["shown"].unique()
    wrong = {str(name): list(words) for name, words in found.items() if len(words) > 1}
    for name, words in list(wrong.items())[:1]:
        what = f"data.group: '{name}' has {listing(words)}; the samples of one group must have one "
        yield Problem(f"{where}, column '{group}'", f"{what}response{too(len(wrong) - 1, 'group')}")


def _check_sides(sheet: Sheet, column: str, where: str) -> Iterator[Problem]:
    obs, at = sheet.obs, f"{where}, column '{column}'"
    strange = {str(name): str(word) for name, word in obs[column].items() if word not in SIDES}
    for name, word in list(strange.items())[:1]:
        more = too(len(strange) - 1, "sample")
        near = did_you_mean(word.lower(), SIDES)
        found = f"'{word}'" if word else "blank"
        yield Problem(at, f"sample '{name}' is {found}, needs train or test{more}{near}")
    if not strange:
        for side in SIDES:
            if side not in set(obs[column]):
                yield Problem(at, f"no sample is '{side}'; both train and test are needed")
    group = sheet.design.group
    if group in obs.columns and not strange:
        torn = [str(name) for name, of in obs.groupby(group)[column] if len(set(of)) > 1]
        if torn:
            what = f"{group} {listing(torn)} has samples on both sides; keep each on one side"
            yield Problem(at, what)

"""Check whether samples can be split as the config says, and warn of patients on both sides.

A `Sheet` is the checked sample table: `obs` (index = sample names, cells as strings), and the
design. `file` is its file, for messages, which name the first fault and count the others. Units of
a split are groups if there are groups, otherwise samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.columns import (
    MAX_CHANCE,
    MAX_CHANCE_OF_EQUAL_SIZE,
    MAX_PATIENT_SAMPLES,
    MIN_PATIENTS,
    chance_of_one_response,
    is_covariate,
    names_patients,
)
from genesig.data.files.names import Config
from genesig.data.files.sample_names import TCGA_TISSUE
from genesig.data.splits.draw import BATCH_SCHEMES
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem, did_you_mean
from genesig.response.design import SENSITIVITY, SPECIFICITY
from genesig.response.kinds import RESPONSES
from genesig.results import Design, Splits
from genesig.words import counted, further_text, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

SPLIT_SIDES = ("train", "test")
MIN_PATIENTS_OF_CLASS = 3  # patients in each class; subtypes of tumours are in one class alone
MIN_NAMED_AS_CLASSES = 9
"""Number of values named after their class from which on they are patients, such as control_01;
fewer are subclasses, such as control_6h."""


def check_design(sheet: Sheet, config: Config, file: str) -> Iterator[Problem]:
    """Yield a problem for too few units, or for faulty pairs, groups or predefined sides.

    Of several classes with too few units the rarest is reported.
    """
    if sheet.design.pair is not None:
        yield from _check_pairs(sheet, file) if sheet.design.classes else ()  # no classes: refused
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


def check_patient_columns(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Warn of a column of patients whose samples may be on both sides of a split.

    A column is recognised by its name, otherwise by values that repeat with one response each.
    """
    named_warnings = list(_warn_by_column_name(sheet, file))
    yield from named_warnings or _warn_by_repeated_values(sheet, file)


def check_tissues(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Warn if samples with one response, or of a study without classes, are tumours and normals.

    The barcodes of TCGA in the sample names tell the tissue, 0 for tumours and 1 for normals. A
    study that adjusts for a column with other words for tumours than for normals needs no warning.
    """
    obs = sheet.obs
    barcodes = {str(name): TCGA_TISSUE.match(str(name)) for name in obs.index}
    tissues = {name: barcode[1] for name, barcode in barcodes.items() if barcode is not None}
    normals = [name for name, tissue in tissues.items() if tissue == "1"]
    tumours = [name for name, tissue in tissues.items() if tissue == "0"]
    covariates = sheet.design.covariates
    columns = [covariate.column for covariate in covariates if covariate.levels is not None]
    columns += [sheet.design.label] if sheet.design.classes else []
    tells_tissues = any(set(obs[name][normals]).isdisjoint(obs[name][tumours]) for name in columns)
    if normals and tumours and not tells_tissues:
        message = (
            f"{counted(len(normals), 'sample')} of normal tissue by the TCGA barcode, such as "
            f"'{normals[0]}', among tumours; delete their rows unless the study is about both"
        )
        yield Problem(file, message, "warning", code="mixed_tissues")


def _warn_by_column_name(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a warning for columns that are called as patients are, such as 'Patient ID'."""
    obs = sheet.obs
    design = sheet.design
    for name in map(str, obs.columns):
        if name == design.label or not names_patients(name):
            continue
        samples_with_value = obs[[not is_missing(value) for value in obs[name]]]
        if _repeats_within_class(samples_with_value, name, design) and _may_be_split(
            samples_with_value, name, design.group
        ):
            message = f"samples of one '{name}' would stand on both sides of a split; "
            if LABEL_RULES[design.kind].one_response_per_group and not _has_one_response(
                sheet, samples_with_value, name
            ):
                message += (
                    "their responses differ, so that they are no group: keep one sample of each"
                )
            else:
                message += f"set {_group_setting(samples_with_value, name, design)}: {name}"
                message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
            column_location = f"{file}, column '{name}'"
            yield Problem(
                column_location, message, "warning", code="samples_of_one_unit", key="data.group"
            )


def _group_setting(samples_with_value: pd.DataFrame, name: str, design: Design) -> str:
    """Return the setting for a column: ``data.pair`` if each value has a sample of both classes.

    Otherwise ``data.group``.
    """
    if design.classes is None or len(design.classes) != 2 or design.studies:
        return "data.group"
    labels_of_value = samples_with_value.groupby(name)[design.label]
    are_pairs = (labels_of_value.size() == 2).all() and (labels_of_value.nunique() == 2).all()
    return "data.pair" if are_pairs else "data.group"


def _warn_by_repeated_values(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a warning if the values of a column look like patients with several samples.

    Each value then repeats with one response. Of several columns the one with most values is
    reported.
    """
    design = sheet.design
    used_columns = {design.label, design.event, design.batch, design.group, design.pair}
    used_columns.add(design.weights)
    used_columns |= {covariate.column for covariate in design.covariates}
    response_texts = [str(word) for word in RESPONSES[design.kind].label_cells(sheet.obs, design)]
    n_values: dict[str, int] = {}
    for name in map(str, sheet.obs.columns):
        if name in used_columns or is_covariate(name):
            continue
        value_of_sample = _values_of_samples(sheet, name)
        samples_with_value = sheet.obs[[cell is not None for cell in value_of_sample]]
        if _are_patients(value_of_sample, response_texts, sheet) and _may_be_split(
            samples_with_value, name, design.group
        ):
            n_values[name] = len({cell for cell in value_of_sample if cell is not None})
    if n_values:
        name = max(n_values, key=lambda column: n_values[column])
        message = (
            f"each of its {n_values[name]} values has one response, as the samples of one patient"
            " have; samples of one value would stand on both sides of a split: if they belong "
            f"together, set data.group: {name}"
        )
        message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
        column_location = f"{file}, column '{name}'"
        yield Problem(
            column_location, message, "warning", code="samples_of_one_unit", key="data.group"
        )


def _values_of_samples(sheet: Sheet, name: str) -> list[str | None]:
    """Return a column's cells, None where missing, with the study's name if there are several.

    Each study numbers its patients by itself.
    """
    cells = [None if is_missing(cell) else cell.strip() for cell in map(str, sheet.obs[name])]
    if not sheet.design.studies:
        return cells
    studies = map(str, sheet.obs[str(sheet.design.batch)])
    return [
        None if cell is None else f"{study} {cell}"
        for study, cell in zip(studies, cells, strict=True)
    ]


def _are_patients(cells: Sequence[str | None], response_texts: Sequence[str], sheet: Sheet) -> bool:
    """Tell whether values repeat with one response each, far more often than by chance.

    Values with many samples are conditions of an experiment, not patients, unless all have the same
    number of samples and there are at least twice as many values. Decimals are measurements; so are
    whole numbers that rise or fall with the response.

    cells: value of each sample, None where missing.
    response_texts: response of each sample.
    """
    rows_of_value: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if cell is not None:
            rows_of_value.setdefault(cell, []).append(row)
    sizes = [len(rows) for rows in rows_of_value.values()]
    repeated_values = [rows for rows in rows_of_value.values() if len(rows) > 1]
    if len(rows_of_value) < MIN_PATIENTS or not repeated_values:
        return False
    equal_sizes = len(set(sizes)) == 1
    if sum(sizes) > MAX_PATIENT_SAMPLES * len(sizes) and not (
        equal_sizes and len(sizes) >= 2 * sizes[0]
    ):
        return False
    if any(len({response_texts[row] for row in rows}) > 1 for rows in repeated_values):
        return False
    n_values_of_class = Counter(response_texts[rows[0]] for rows in rows_of_value.values())
    if any(n_values_of_class[name] < MIN_PATIENTS_OF_CLASS for name in sheet.design.classes or ()):
        return False
    if all(map(is_number, rows_of_value)) and _are_measurements(rows_of_value, sheet):
        return False
    if sheet.design.classes and _are_subclasses(rows_of_value, sheet):
        return False
    responses = [response_texts[row] for rows in rows_of_value.values() for row in rows]
    limit = MAX_CHANCE_OF_EQUAL_SIZE if equal_sizes else MAX_CHANCE
    return chance_of_one_response(list(map(len, repeated_values)), responses) < limit


def _are_subclasses(rows_of_value: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether values are subclasses: control_6h, or a class combined with another column.

    Combined: class and value of that column, which has at most half as many values, give the value.

    rows_of_value: value -> rows of its samples.
    """
    labels = list(map(str, sheet.obs[sheet.design.label]))
    n_named_as_class = sum(
        labels[rows[0]].casefold() in value.casefold() for value, rows in rows_of_value.items()
    )
    if 2 * n_named_as_class > len(rows_of_value) and len(rows_of_value) < MIN_NAMED_AS_CLASSES:
        return True
    value_of_row = {row: value for value, rows in rows_of_value.items() for row in rows}
    for name in sheet.obs.columns:
        cells = list(map(str, sheet.obs[name]))
        values: dict[tuple[str, str], set[str]] = {}
        for row, value in value_of_row.items():
            values.setdefault((labels[row], cells[row]), set()).add(value)
        has_few_values = 2 * len(set(cells)) <= len(rows_of_value)
        if (
            has_few_values
            and name != sheet.design.label
            and all(len(values_of_cells) == 1 for values_of_cells in values.values())
        ):
            return True
    return False


def _are_measurements(rows_of_value: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether numbers are decimals, or rise or fall with the mean response.

    rows_of_value: number, as text -> rows of its samples.
    """
    if any(float(cell) % 1 for cell in rows_of_value):
        return True
    response_kind = RESPONSES[sheet.design.kind]
    response = response_kind.label_values(response_kind.read(sheet.obs, sheet.design))
    mean_responses = [
        response[list(rows_of_value[cell])].mean() for cell in sorted(rows_of_value, key=float)
    ]
    steps = np.diff(mean_responses)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _has_one_response(sheet: Sheet, samples_with_value: pd.DataFrame, name: str) -> bool:
    """Tell whether all samples with one value of a column have one response, as a group must."""
    response_text = RESPONSES[sheet.design.kind].label_cells(samples_with_value, sheet.design)
    return bool(
        samples_with_value.assign(shown=response_text).groupby(name)["shown"].nunique().max() == 1
    )


def _repeats_within_class(samples_with_value: pd.DataFrame, name: str, design: Design) -> bool:
    """Tell whether values of a column repeat, other than one value for all or one for each class.

    samples_with_value: rows of the sample table with a value in column `name`.
    """
    if not samples_with_value[name].duplicated().any() or len(set(samples_with_value[name])) == 1:
        return False
    return design.classes is None or bool(
        samples_with_value.groupby(design.label)[name].nunique().max() > 1
    )


def _may_be_split(samples_with_value: pd.DataFrame, name: str, group: str | None) -> bool:
    """Tell whether samples with one value of column `name` can be on both sides of a split.

    group: column of the groups that splits leave whole, if there is one.
    """
    if group is None:
        return True
    if name == group:
        return False
    return bool(samples_with_value.groupby(name)[group].nunique().max() > 1)

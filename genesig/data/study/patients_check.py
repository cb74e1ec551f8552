"""Warn of columns of patients whose samples may be on both sides of a split.

A unit is a value of a column that may name a patient. A `Sheet` is the checked sample table, `obs`
(index = sample names, cells as strings), with the design; `file` is its file, for messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.columns import is_covariate
from genesig.data.files.patient_columns import (
    MAX_CHANCE,
    MAX_CHANCE_OF_EQUAL_SIZE,
    MAX_UNIT_SIZE,
    MIN_UNITS,
    chance_of_one_response,
    names_patients,
)
from genesig.data.files.sample_names import TCGA_TISSUE
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.response.kinds import RESPONSES
from genesig.results import Design
from genesig.words import counted, is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd


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
    labels_of_unit = samples_with_value.groupby(name)[design.label]
    are_pairs = (labels_of_unit.size() == 2).all() and (labels_of_unit.nunique() == 2).all()
    return "data.pair" if are_pairs else "data.group"


MIN_UNITS_OF_CLASS = 3  # patients in each class; subtypes of tumours are in one class alone
MIN_UNITS_CALLED_AS_CLASSES = 9
"""Number of values named after their class from which on they are patients, such as control_01;
fewer are subclasses, such as control_6h."""


def _warn_by_repeated_values(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a warning if the values of a column look like patients with several samples.

    Each value then repeats with one response. Of several columns the one with most units is
    reported.
    """
    design = sheet.design
    used_columns = {design.label, design.event, design.batch, design.group, design.pair}
    used_columns.add(design.weights)
    used_columns |= {covariate.column for covariate in design.covariates}
    response_texts = [str(word) for word in RESPONSES[design.kind].label_cells(sheet.obs, design)]
    n_units: dict[str, int] = {}
    for name in map(str, sheet.obs.columns):
        if name in used_columns or is_covariate(name):
            continue
        unit_of_sample = _units_of_samples(sheet, name)
        samples_with_value = sheet.obs[[cell is not None for cell in unit_of_sample]]
        if _are_units(unit_of_sample, response_texts, sheet) and _may_be_split(
            samples_with_value, name, design.group
        ):
            n_units[name] = len({cell for cell in unit_of_sample if cell is not None})
    if n_units:
        name = max(n_units, key=lambda column: n_units[column])
        message = (
            f"each of its {n_units[name]} values has one response, as the samples of one patient"
            " have; samples of one value would stand on both sides of a split: if they belong "
            f"together, set data.group: {name}"
        )
        message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
        column_location = f"{file}, column '{name}'"
        yield Problem(
            column_location, message, "warning", code="samples_of_one_unit", key="data.group"
        )


def _units_of_samples(sheet: Sheet, name: str) -> list[str | None]:
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


def _are_units(cells: Sequence[str | None], response_texts: Sequence[str], sheet: Sheet) -> bool:
    """Tell whether values repeat with one response each, far more often than by chance.

    Values with many samples are conditions of an experiment, not patients, unless all have the same
    number of samples and there are at least twice as many values. Decimals are measurements; so are
    whole numbers that rise or fall with the response.

    cells: value of each sample, None where missing.
    response_texts: response of each sample.
    """
    rows_of_unit: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if cell is not None:
            rows_of_unit.setdefault(cell, []).append(row)
    sizes = [len(unit_rows) for unit_rows in rows_of_unit.values()]
    repeated_units = [unit_rows for unit_rows in rows_of_unit.values() if len(unit_rows) > 1]
    if len(rows_of_unit) < MIN_UNITS or not repeated_units:
        return False
    equal_sizes = len(set(sizes)) == 1
    if sum(sizes) > MAX_UNIT_SIZE * len(sizes) and not (equal_sizes and len(sizes) >= 2 * sizes[0]):
        return False
    if any(len({response_texts[row] for row in unit_rows}) > 1 for unit_rows in repeated_units):
        return False
    n_units_of_class = Counter(response_texts[unit_rows[0]] for unit_rows in rows_of_unit.values())
    if any(n_units_of_class[name] < MIN_UNITS_OF_CLASS for name in sheet.design.classes or ()):
        return False
    if all(map(is_number, rows_of_unit)) and _are_measurements(rows_of_unit, sheet):
        return False
    if sheet.design.classes and _are_subclasses(rows_of_unit, sheet):
        return False
    responses = [response_texts[row] for unit_rows in rows_of_unit.values() for row in unit_rows]
    limit = MAX_CHANCE_OF_EQUAL_SIZE if equal_sizes else MAX_CHANCE
    return chance_of_one_response(list(map(len, repeated_units)), responses) < limit


def _are_subclasses(rows_of_unit: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether values are subclasses: control_6h, or a class combined with another column.

    Combined: class and value of a column with at most half as many values give the unit.

    rows_of_unit: value -> rows of its samples.
    """
    labels = list(map(str, sheet.obs[sheet.design.label]))
    n_named_as_class = sum(
        labels[unit_rows[0]].casefold() in unit.casefold()
        for unit, unit_rows in rows_of_unit.items()
    )
    if 2 * n_named_as_class > len(rows_of_unit) and len(rows_of_unit) < MIN_UNITS_CALLED_AS_CLASSES:
        return True
    unit_of_row = {row: unit for unit, unit_rows in rows_of_unit.items() for row in unit_rows}
    for name in sheet.obs.columns:
        cells = list(map(str, sheet.obs[name]))
        units: dict[tuple[str, str], set[str]] = {}
        for row, unit in unit_of_row.items():
            units.setdefault((labels[row], cells[row]), set()).add(unit)
        has_few_values = 2 * len(set(cells)) <= len(rows_of_unit)
        if (
            has_few_values
            and name != sheet.design.label
            and all(len(units_of_cells) == 1 for units_of_cells in units.values())
        ):
            return True
    return False


def _are_measurements(rows_of_unit: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether numbers are decimals, or rise or fall with the mean response.

    rows_of_unit: number, as text -> rows of its samples.
    """
    if any(float(cell) % 1 for cell in rows_of_unit):
        return True
    response_kind = RESPONSES[sheet.design.kind]
    response = response_kind.label_values(response_kind.read(sheet.obs, sheet.design))
    mean_responses = [
        response[list(rows_of_unit[cell])].mean() for cell in sorted(rows_of_unit, key=float)
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

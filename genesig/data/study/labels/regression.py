"""Check labels that are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.names import Config
from genesig.data.study.labels.record import (
    LabelChoice,
    LabelRequest,
    LabelRules,
    SettingFaults,
    censoring_warnings,
    check_missing_codes,
    class_advice,
    place_of_cell,
)
from genesig.errors import Problem
from genesig.words import counted, is_missing, is_number, number_fault

if TYPE_CHECKING:
    import pandas as pd

CLASS_CRITERIA = ("balanced_error", "misclassification", "log_loss")


def _check_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Append the problems of labels that must be numbers; no sample is dropped."""
    _check_numbers(request.table, request.file, request.label_column, problems)
    problems.extend(check_missing_codes(request.table, request.label_column, request.file))
    label_location = f"{request.file}, column '{request.label_column}'"
    problems += [
        Problem(label_location, message, "warning")
        for message in censoring_warnings(request.table, request.label_column)
    ]
    return LabelChoice()


def _check_numbers(table: pd.DataFrame, file: str, label: str, problems: list[Problem]) -> None:
    """Append a problem for labels that are no numbers, or do not vary."""
    values = list(table[label])
    faulty_rows = [
        row for row, value in enumerate(values) if not (is_missing(value) or is_number(value))
    ]
    if faulty_rows:
        row = faulty_rows[0]
        place = place_of_cell(table, row, label, file)
        further_cells_text = (
            f" ({counted(len(faulty_rows) - 1, 'further cell')})" if len(faulty_rows) > 1 else ""
        )
        message = (
            f"the label of '{table.index[row]}' {number_fault(values[row])}{further_cells_text}"
            f"; regression needs a number for each sample{class_advice(table, label)}"
        )
        problems.append(Problem(place, message))
    elif len({float(value) for value in values if not is_missing(value)}) < 2:
        message = "regression needs labels that vary; here is one value or none"
        problems.append(Problem(f"{file}, column '{label}'", message))


def _setting_faults(config: Config) -> SettingFaults:
    """Yield criteria that do not fit numbers."""
    criterion = config["linear"]["criterion"]
    if criterion != "squared_error":
        requirement = "classes" if criterion in CLASS_CRITERIA else "survival"
        yield (
            "linear.criterion",
            f"'{criterion}' needs {requirement}; regression needs 'squared_error'",
        )


NUMBER_LABELS = LabelRules(
    choose_labels=_check_labels,
    setting_faults=_setting_faults,
    leave_one_out_result="predictions run against the label",
    has_classes=False,
    adjustments=("covariates", "weights"),
)

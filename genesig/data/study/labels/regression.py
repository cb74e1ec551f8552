"""A number for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.study.labels.record import (
    Asked,
    Chosen,
    Config,
    Found,
    Labels,
    as_classes,
    censored,
    check_codes,
    place,
)
from genesig.errors import Problem
from genesig.words import counted, is_missing, is_number, number_fault

if TYPE_CHECKING:
    import pandas as pd

CLASS_CRITERIA = ("balanced_error", "misclassification", "log_loss")


def _choose(asked: Asked, problems: list[Problem]) -> Chosen:
    _check_numbers(asked.table, asked.where, asked.label, problems)
    problems.extend(check_codes(asked.table, asked.label, asked.where))
    at = f"{asked.where}, column '{asked.label}'"
    problems += [Problem(at, message, "warning") for message in censored(asked.table, asked.label)]
    return Chosen()


def _check_numbers(table: pd.DataFrame, where: str, label: str, problems: list[Problem]) -> None:
    values = list(table[label])
    wrong = [row for row, value in enumerate(values) if not (is_missing(value) or is_number(value))]
    if wrong:
        row = wrong[0]
        at = place(table, row, label, where)
        more = f" ({counted(len(wrong) - 1, 'further cell')})" if len(wrong) > 1 else ""
        message = (
            f"the label of '{table.index[row]}' {number_fault(values[row])}{more}"
            f"; regression needs a number for each sample{as_classes(table, label)}"
        )
        problems.append(Problem(at, message))
    elif len({float(value) for value in values if not is_missing(value)}) < 2:
        message = "regression needs labels that vary; here is one value or none"
        problems.append(Problem(f"{where}, column '{label}'", message))


def _settings(config: Config) -> Found:
    criterion = config["linear"]["criterion"]
    if criterion != "squared_error":
        needs = "classes" if criterion in CLASS_CRITERIA else "survival"
        yield "linear.criterion", f"'{criterion}' needs {needs}; regression needs 'squared_error'"


REGRESSION = Labels(
    choose=_choose,
    settings=_settings,
    alone="predictions run against the label",
    named=False,
    held=("covariates", "weights"),
)

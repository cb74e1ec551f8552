"""Choose the classes of a study, and drop samples of other classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.data.files.names import Config
from genesig.data.study.labels.record import (
    LabelChoice,
    LabelRequest,
    LabelRules,
    SettingFaults,
    check_class_words,
    check_left_out_classes,
    number_advice,
)
from genesig.errors import Problem, did_you_mean
from genesig.words import (
    as_word,
    control_first,
    counted,
    equal_looking,
    flow_yaml,
    is_number,
    listing,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_CLASSES = 20  # classes


def _choose_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Return the classes and the samples of other classes; append the problems."""
    labels = request.labels
    file = request.file
    classes = request.settings.classes
    classes_of_study = _choose_classes(labels, file, request, classes, problems)
    if classes is None:
        problems.extend(
            check_class_words(request.table, request.label_column, classes_of_study, file)
        )
    dropped = (
        {} if classes is None else _drop_other_classes(labels, classes_of_study, file, problems)
    )
    return LabelChoice(classes_of_study, dropped)


def _choose_classes(
    column: pd.Series[str],
    file: str,
    request: LabelRequest,
    classes: Sequence[str] | None,
    problems: list[Problem],
) -> tuple[str, ...]:
    """Return the classes of the config, or of the table (the control first if there are two)."""
    n_samples_of_class = Counter(sorted(column))
    label_location = f"{file}, column '{request.label_column}'"
    if classes is not None:
        for name in classes:
            if name not in n_samples_of_class:
                advice = (
                    did_you_mean(name, n_samples_of_class.keys() - set(classes))
                    or f"; name one of {listing(n_samples_of_class, 6)}"
                )
                problems.append(
                    Problem(label_location, f"data.classes: no sample is '{name}'{advice}")
                )
        return tuple(classes)
    if len(n_samples_of_class) < 2:
        fault_text = (
            f"every sample is {listing(n_samples_of_class)}"
            if n_samples_of_class
            else "no sample has a label"
        )
        problems.append(Problem(label_location, f"{fault_text}; two classes are needed"))
    if len(n_samples_of_class) > 2 and not equal_looking(
        n_samples_of_class, as_word
    ):  # which are an error of their own
        problems.extend(
            _check_number_of_classes(
                n_samples_of_class,
                label_location,
                number_advice(request.table, request.label_column),
            )
        )
    names = (
        control_first(list(n_samples_of_class))
        if len(n_samples_of_class) == 2
        else [*n_samples_of_class]
    )
    return tuple(names) if len(names) > 1 else (*names, "", "")[:2]


def _check_number_of_classes(
    n_samples_of_class: Counter[str], label_location: str, advice: str
) -> Iterator[Problem]:
    """Yield a note or an error if the table has more than two classes and the config names none."""
    counts_text = ", ".join(
        f"'{name}' ({n_samples})" for name, n_samples in n_samples_of_class.most_common(6)
    )
    further_classes = (
        f" and {len(n_samples_of_class) - 6} more" if len(n_samples_of_class) > 6 else ""
    )
    message = f"{len(n_samples_of_class)} classes: {counts_text}{further_classes}"
    if len(n_samples_of_class) > 6 and all(map(is_number, n_samples_of_class)):
        yield Problem(label_location, f"{message}; {advice}")
        return
    two_classes_setting = flow_yaml(
        {"classes": control_first([name for name, _ in n_samples_of_class.most_common(2)])}
    )
    if len(n_samples_of_class) > MAX_CLASSES:
        message += (
            f"; at most {MAX_CLASSES} are told apart, choose some, for example data: "
            f"{two_classes_setting}"
        )
        yield Problem(label_location, message)
    else:
        message += (
            f", told apart by one list of genes; data: {two_classes_setting} would compare two"
        )
        yield Problem(label_location, message, "note")


def _drop_other_classes(
    column: pd.Series[str], classes: tuple[str, ...] | None, file: str, problems: list[Problem]
) -> dict[str, str]:
    """Return the samples that are of none of the classes, with the reason; append a warning."""
    class_of_sample = {
        str(name): value for name, value in column.items() if value not in (classes or ())
    }
    if class_of_sample:
        n_samples_of_class = Counter(class_of_sample.values())
        counts_text = ", ".join(
            f"'{name}' ({counted(n_samples, 'sample')})"
            for name, n_samples in n_samples_of_class.items()
        )
        label_location = f"{file}, column '{column.name}'"
        message = f"left out by data.classes: {counts_text}"
        problems.append(Problem(label_location, message, "warning"))
        problems.extend(check_left_out_classes(n_samples_of_class, classes or (), label_location))
    return {
        name: f"class '{value}' is not in data.classes" for name, value in class_of_sample.items()
    }


def _setting_faults(config: Config) -> SettingFaults:
    """Yield settings that do not fit classes."""
    if config["linear"]["criterion"] == "partial_likelihood":
        yield "linear.criterion", "'partial_likelihood' is for survival; take it away"


CLASS_LABELS = LabelRules(
    choose_labels=_choose_labels,
    setting_faults=_setting_faults,
    leave_one_out_result="it gives a balanced error of 0.53 to 0.56 and an AUC of 0.43 to 0.49",
    has_classes=True,
    adjustments=("covariates", "weights"),
    data_keys=("classes", "pair"),
)

"""The rules of every kind of outcome, and settings that fit one kind and not another."""

from __future__ import annotations

from genesig.data.files.names import Config
from genesig.data.study.labels.classification import CLASS_LABELS
from genesig.data.study.labels.record import LabelRules, SettingFaults
from genesig.data.study.labels.regression import NUMBER_LABELS
from genesig.data.study.labels.several_classes import SEVERAL_CLASS_LABELS
from genesig.data.study.labels.survival import SURVIVAL_LABELS
from genesig.response.design import SEVERAL, label_columns
from genesig.response.known import ByKind

LABEL_RULES: dict[str, LabelRules] = ByKind(
    {
        "classification": CLASS_LABELS,
        SEVERAL: SEVERAL_CLASS_LABELS,
        "regression": NUMBER_LABELS,
        "survival": SURVIVAL_LABELS,
    }
)


def check_kind_settings(config: Config) -> SettingFaults:
    """Yield settings that do not fit the kind of outcome that the config asks for."""
    data = config["data"]
    rules = LABEL_RULES[config["data"]["task"]]
    yield from _label_faults(config["label"], data["task"])
    yield from rules.setting_faults(config)
    for kind, other_rules in LABEL_RULES.items():
        for key in other_rules.data_keys:
            if data[key] is not None and key not in rules.data_keys:
                message = f"is for {kind}; take it away or set data.task: {kind}"
                yield f"data.{key}", message


def _label_faults(label: str | dict[str, str], task: str) -> SettingFaults:
    """Yield that the label does not name the columns that the kind of outcome needs."""
    named_columns = () if isinstance(label, str) else tuple(label)
    required_columns = LABEL_RULES[task].label_columns
    if named_columns and not required_columns:
        fitting_kind = next(kind for kind, rules in LABEL_RULES.items() if rules.label_columns)
        message = (
            f"names columns of {' and '.join(LABEL_RULES[fitting_kind].label_columns)}; for "
            f"{task} name one column, or write data: {{task: {fitting_kind}}}"
        )
        yield "label", message
    elif required_columns and not named_columns:
        columns = ", ".join(f"{key}: COLUMN" for key in required_columns)
        yield "label", f"{task} needs columns of its own; write label: {{{columns}}}"
    elif len(set(label_columns(label))) < len(named_columns):
        yield "label", f"'{label_columns(label)[0]}' is named twice; name two columns"

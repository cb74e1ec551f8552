"""How each kind of response is checked, and settings that fit one kind and not another."""

from __future__ import annotations

from genesig.data.study.labels.classification import CLASSIFICATION
from genesig.data.study.labels.record import Config, Found, Labels
from genesig.data.study.labels.regression import REGRESSION
from genesig.data.study.labels.several_classes import SEVERAL_CLASSES
from genesig.data.study.labels.survival import SURVIVAL
from genesig.response.design import SEVERAL, label_columns
from genesig.response.known import ByKind

LABELS: dict[str, Labels] = ByKind(
    {
        "classification": CLASSIFICATION,
        SEVERAL: SEVERAL_CLASSES,
        "regression": REGRESSION,
        "survival": SURVIVAL,
    }
)


def kind_settings(config: Config) -> Found:
    """Yield what does not fit the kind that the config asks for."""
    data = config["data"]
    own = LABELS[config["data"]["task"]]
    yield from _label(config["label"], data["task"])
    yield from own.settings(config)
    for kind, other in LABELS.items():
        for key in other.own:
            if data[key] is not None and key not in own.own:
                message = f"is for {kind}; take it away or set data.task: {kind}"
                yield f"data.{key}", message


def _label(label: str | dict[str, str], task: str) -> Found:
    """Hold the columns that the label names against those that the kind needs."""
    named = () if isinstance(label, str) else tuple(label)
    needed = LABELS[task].columns
    if named and not needed:
        fits = next(kind for kind, each in LABELS.items() if each.columns)
        message = (
            f"names columns of {' and '.join(LABELS[fits].columns)}; for {task} name one column"
            f", or write data: {{task: {fits}}}"
        )
        yield "label", message
    elif needed and not named:
        columns = ", ".join(f"{key}: COLUMN" for key in needed)
        yield "label", f"{task} needs columns of its own; write label: {{{columns}}}"
    elif len(set(label_columns(label))) < len(named):
        yield "label", f"'{label_columns(label)[0]}' is named twice; name two columns"

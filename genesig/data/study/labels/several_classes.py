"""The rules of more than two classes: the analyses that are not offered for them."""

from __future__ import annotations

from genesig.data.files.names import Config
from genesig.data.study.labels.classification import CLASS_LABELS
from genesig.data.study.labels.record import LabelRules, SettingFaults

TWO_CLASS_TEXT = "is for two classes; choose two by data.classes, or "


def _setting_faults(config: Config) -> SettingFaults:
    """Yield settings that are for two classes only."""
    linear = config["linear"]
    data = config["data"]
    if config["nonlinear"]["enabled"]:
        yield "nonlinear.enabled", f"{TWO_CLASS_TEXT}set false"
    if data["pair"] is not None:
        yield "data.pair", f"{TWO_CLASS_TEXT}name the column as data.group"
    if linear["penalty"] != "l1":
        yield "linear.penalty", f"'{linear['penalty']}' {TWO_CLASS_TEXT}take l1"
    if linear["threshold"] != "midpoint":
        yield "linear.threshold", f"'zero' {TWO_CLASS_TEXT}take it away"
    if linear["criterion"] == "log_loss":
        yield "linear.criterion", f"'log_loss' {TWO_CLASS_TEXT}set squared_error"
    if linear["solver"] != "landweber-newton":
        message = "does not know several classes; set landweber-newton"
        yield "linear.solver", f"'{linear['solver']}' {message}"


SEVERAL_CLASS_LABELS = LabelRules(
    choose_labels=CLASS_LABELS.choose_labels,
    setting_faults=_setting_faults,
    leave_one_out_result="it makes more errors than guessing would",
    has_classes=True,
    path_seconds=0.0002,
    defaults={"nonlinear": {"enabled": False}},
)

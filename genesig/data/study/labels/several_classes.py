"""More than two classes: what is not offered for them."""

from __future__ import annotations

from genesig.data.study.labels.classification import CLASSIFICATION
from genesig.data.study.labels.record import Config, Found, Labels

TWO = "is for two classes; choose two by data.classes, or "


def _settings(config: Config) -> Found:
    linear = config["linear"]
    data = config["data"]
    if config["nonlinear"]["enabled"]:
        yield "nonlinear.enabled", f"{TWO}set false"
    if data["pair"] is not None:
        yield "data.pair", f"{TWO}name the column as data.group"
    if linear["penalty"] != "l1":
        yield "linear.penalty", f"'{linear['penalty']}' {TWO}take l1"
    if linear["threshold"] != "midpoint":
        yield "linear.threshold", f"'zero' {TWO}take it away"
    if linear["criterion"] == "log_loss":
        yield "linear.criterion", f"'log_loss' {TWO}set squared_error"
    if linear["solver"] != "landweber-newton":
        message = "does not know several classes; set landweber-newton"
        yield "linear.solver", f"'{linear['solver']}' {message}"


SEVERAL_CLASSES = Labels(
    choose=CLASSIFICATION.choose,
    settings=_settings,
    alone="it makes more errors than guessing would",
    named=True,
    step=0.0002,
    defaults={"nonlinear": {"enabled": False}},
)

"""The rules of the config section ``decision``, by which the threshold of two classes is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SENSITIVITY = "sensitivity"
SPECIFICITY = "specificity"
COST = "cost"
YOUDEN = "youden"
DECISION_RULES = (SENSITIVITY, SPECIFICITY, COST, YOUDEN)
"""Keys of the section that state how the threshold is found."""


def decision_rules_in(decision: Mapping[str, Any]) -> list[str]:
    """Return the rules in a section ``decision``; a valid section has at most one.

    A rule that is absent, None, false or 0 is not set.
    """
    return [name for name in DECISION_RULES if decision.get(name)]

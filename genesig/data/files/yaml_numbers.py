"""Numbers of a config that YAML reads otherwise than people: 010 is 8, 1:30 is 90."""

from __future__ import annotations

import re
from typing import Any

from genesig.errors import refuse

# Of YAML's numbers those that everybody reads as YAML does; not 010, 0x10, 1_000, 1:30.
PLAIN_NUMBER = re.compile(
    r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|nan)", re.I
)


def check_numbers(node: Any, where: str) -> None:
    """Refuse the first number that is another one to YAML than to people.

    Parameters
    ----------
    node : yaml.Node
        As `yaml.compose` gives it.
    where : str
        Its file.
    """
    import yaml

    seen: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:  # an alias, perhaps of what it stands in
            continue
        seen.add(id(each))
        if each.id != "scalar":
            waiting += [part for pair in each.value
                        for part in (pair if isinstance(pair, tuple) else (pair,))]  # fmt: skip
        elif each.tag.endswith((":int", ":float")) and not PLAIN_NUMBER.fullmatch(each.value):
            what = f"'{each.value}' is {yaml.safe_load(each.value)} in YAML; write that, the number"
            what += " you mean, or quotes around a name"
            raise refuse(where, what, line=each.start_mark.line + 1)

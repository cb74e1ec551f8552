"""JSON as it is defined: no key twice in an object, no NaN and no infinity."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from genesig.errors import refuse


def parse_json(text: str, where: str) -> Any:
    """Parse a text; `where` is its file.

    Raises
    ------
    InvalidInput
        It is no JSON, is nested too deeply, or has a number of thousands of digits.
    """
    if not text.strip():
        raise refuse(where, "is empty; name another file, or copy it again")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg.lower()}; name a JSON file, or copy it again if it is cut "
        what += "off"
        raise refuse(where, what, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise refuse(where, f"is not JSON as a program writes it: {what}; copy it again") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key '{twice[:80]}' stands twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")

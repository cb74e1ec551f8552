"""Names in tables that people open in spreadsheets, where one that begins with = is a formula.

Such a name is written with an apostrophe before it, as spreadsheets themselves mark text, and read
back without it. Numbers, signs alone and all other names stand as they are.
"""

from __future__ import annotations

import re
from typing import Any

from genesig.words import is_number

FORMULA = re.compile(r"[=+\-@\t\r]")
MARKED = re.compile(r"'+[=+\-@\t\r]")


def cell(name: Any) -> Any:
    """Mark a name that a spreadsheet would compute; `plain` gives it back, whatever it is."""
    if not isinstance(name, str) or name[:1] not in "'=+-@\t\r":
        return name
    formula = FORMULA.match(name) and len(name) > 1 and not is_number(name)
    return f"'{name}" if formula or MARKED.match(name) else name


def plain(text: Any) -> Any:
    """Return the name that `cell` has written."""
    return text[1:] if isinstance(text, str) and MARKED.match(text) else text

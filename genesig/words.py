"""Words that messages of all checks share."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Write ``"1 gene"`` or ``"2 genes"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def too(further: int, noun: str) -> str:
    """Write ``"; 2 further pairs, too"``, or nothing where there is none."""
    return f"; {counted(further, f'further {noun}')}, too" if further else ""


def listing(names: Iterable[str], most: int = 3) -> str:
    """Write the first names: ``"'P1', 'P2', 'P3' and 7 more"``."""
    names = list(names)
    text = ", ".join(f"'{name}'" for name in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def number_fault(text: str) -> str:
    """Say why a text is no finite number."""
    if not text.strip():
        return "is blank"
    if "," in text and is_number(text.replace(",", ".")):
        return f"is '{text}', with a decimal comma; write {text.replace(',', '.')}"
    if is_missing(text):
        return f"is missing ('{text}')"
    infinite = text.strip().lower().lstrip("+-").startswith("inf")
    return f"is infinite ('{text}')" if infinite else f"is '{text}', not a number"


def is_missing(text: str) -> bool:
    """Tell whether a cell is blank, or one of the words that programs write for no value."""
    return text.strip().lower() in ("", "na", "nan", "n/a", "#n/a", "null")


def is_number(text: str) -> bool:
    """Tell whether a text is a finite number."""
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False

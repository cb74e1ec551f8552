"""Numbers and names as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from genesig.report.page.record import Dropped

ABSENT = "–"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e]+")


def by_kind(dropped: Sequence[Dropped]) -> str:
    """Return ``"14 samples and 3 genes"``; what nothing was left out of is not named."""
    count: dict[str, int] = {}
    for one in dropped:
        count[one["kind"]] = count.get(one["kind"], 0) + one["count"]
    return " and ".join(counted(number, kind) for kind, number in count.items())


def counted(number: int, noun: str) -> str:
    """Return ``"1 gene"``, ``"2 genes"``, ``"3 classes"``."""
    plural = noun + ("es" if noun.endswith(("s", "ch")) else "s")
    return f"{number:,} {noun if number == 1 else plural}".replace(",", "\u202f")


def both(genes: int, indicators: int) -> str:
    """Return ``"5 genes and 2 missing-value indicators"``."""
    more = [counted(indicators, "missing-value indicator")] if indicators else []
    return " and ".join([counted(genes, "gene")] * bool(genes or not more) + more)


def enumerated(names: Sequence[str]) -> str:
    """Return ``"age, sex and centre"``."""
    *first, last = map(clean, names)
    return f"{', '.join(first)} and {last}" if first else last


def decimal(value: float | None, digits: int = 2) -> str:
    """Round to decimals; keep two significant digits of what would become zero."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if value and abs(value) < 0.5 * 10**-digits:
        return significant(value, 2)
    return signed(f"{value:.{digits}f}")


def power_of_ten(exponent: int) -> str:
    """Return ``"10⁻³"``."""
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def significant(value: float | None, digits: int = 3) -> str:
    """Round to significant digits, without trailing zeros; small ones as 3.1 × 10⁻⁶."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if 10**digits <= abs(value) < 1e7:
        return signed(f"{value:.0f}")
    number, e, exponent = f"{value:.{digits}g}".partition("e")
    return signed(number) + (f"\u2009×\u2009{power_of_ten(int(exponent))}" if e else "")


def power(value: float) -> str:
    """Write a power of ten as one (10⁻³), any other number in three digits."""
    text = f"{value:.0e}"
    if value > 0 and text.startswith("1e") and float(text) == value and not 0.01 < value < 100:
        return power_of_ten(int(text[2:]))
    return significant(value)


def percent(value: float | None, digits: int = 0) -> str:
    """Return a share as per cent."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return signed(f"{100 * value:.{digits}f}") + "\u00a0%"


def rate(value: float | None) -> str:
    """Return a share as per cent, with a decimal where it is below ten."""
    return percent(value, 1 if value and abs(value) < 0.0995 else 0)


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def in_words(number: int) -> str:
    """Return ``"three"``; numbers above ten as digits."""
    return NUMBERS[number] if number < len(NUMBERS) else f"{number}"


def at_most(expected: float) -> str:
    """Return how many are expected of so many in the mean: ``"at most one is"``, or two are."""
    most = max(1, math.ceil(expected - 1e-6))
    return f"at most {in_words(most)} {'is' if most == 1 else 'are'}"


def between(low: float | None, high: float | None, write: Callable[[float | None], str]) -> str:
    """Return ``" (95 % CI 0.2 to 0.4)"``; nothing where a limit is absent."""
    if low is None or high is None:
        return ""
    return f" (95\u00a0% CI {write(low)} to {write(high)})"


def with_limits(name: str, value: float | None, low: float | None, high: float | None) -> str:
    """Return ``"AUC 0.92 (0.79 to 1.00)"``; the value alone where a limit is absent."""
    text = f"{name} {decimal(value)}"
    if low is None or high is None:
        return text
    return f"{text} ({decimal(low)} to {decimal(high)})"


def shown_of(shown: int, total: int, noun: str, how: str = "") -> str:
    """Return ``" 60 of 300 samples are shown, evenly spaced."``; nothing where all are shown."""
    return "" if shown == total else f" {shown} of {counted(total, noun)} are shown{how}."


def first_of(shown: int, total: int, noun: str) -> str:
    """Return ``" The first 60 of 300 genes are shown."``; nothing where all are shown."""
    return "" if shown == total else f" The first {shown} of {counted(total, noun)} are shown."


def signed(text: str) -> str:
    """Use a true minus sign; what is written as zero has none."""
    size = text.removeprefix("-")
    return f"\u2212{size}" if size != text and size.strip("0.") else size


def clean(name: object) -> str:
    """Replace what no page can show (control and direction characters) by a space."""
    return _CONTROL.sub(" ", str(name)).strip()


def shorten(name: object, most: int) -> str:
    """Cut a long name, after a word where there is one; an ellipsis says so."""
    text = clean(name)
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    words, space, _ = cut.rpartition(" ")
    whole = text[most - 1] == " " or not space or len(words) < most // 3
    return (cut if whole else words).rstrip() + "…"


def gene_label(gene: str, symbol: str | None, most: int = 38) -> str:
    """Return the symbol and beside it the id, as short as a figure needs it."""
    if not symbol or symbol == gene:
        return shorten(gene, most)
    place = shorten(gene, 22)
    return f"{shorten(symbol, max(most - len(place) - 3, 8))} · {place}"

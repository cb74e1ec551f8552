"""Words that messages of all checks share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

# Of the words in which two classes differ, those of the class that the other is held against...
CONTROL = re.compile(
    "controls?|ctrls?|normals?|healthy|benign|wt|wild|wildtype|untreated|unaffected|vehicle|mock"
    "|nontumou?r(al|ous)?|noncancer(ous)?|nonmalignant|paratumou?r(al|ous)?|nat"
    "|placebo|remission|stable|alive|survivors?|neg|negative|non|not|no|none|without|false|0|-"
)
# ... and those that may stand beside them.
BESIDE = re.compile(
    "(group|tissue|sample|subject|donor|individual|volunteer|patient|person|cell|type|adjacent)s?"
    # As the GDC calls normal samples: Solid Tissue Normal, Blood Derived Normal, and others.
    "|solid|blood|derived|bone|marrow|buccal|matched|paired|mucosa|epithelium|nat|to|the"
)
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
"""Hyphens, dashes and the minus that word processors put into the place of - from the keyboard."""
# Ids of genes: of Ensembl, with its version, and of NCBI Gene.
ENSEMBL = re.compile(r"ENS[A-Z]{0,6}G\d{11}(\.\d+)?", re.ASCII)
ENTREZ = re.compile(r"\d{1,9}", re.ASCII)
# float() also takes 4_2 for 42, and the digits of every alphabet.
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.ASCII | re.IGNORECASE)
LARGEST = 1e100
"""Above this a value is no measurement, and its square is infinite."""
SMALLEST = 1 / LARGEST
"""Below this a spread is none: nothing can be divided by its square."""
# Thousands, as 8,123 or 1,234,567; but 0,123 is a decimal comma.
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
# Thousands apart from a decimal sign that is another one, or set apart by what is none: 1,234.5,
# 1.234,5, 1'234.5, 1 234,5; of points alone there are two, as 1.234 is a number.
GROUPED = re.compile(r"([-+]?\d{1,3}(?:(?P<apart>[.,' \u00a0\u2019\u202f])\d{3})"
                     r"(?:(?P=apart)\d{3})*)(?:(?P<sign>(?!(?P=apart))[.,])(\d+))?")  # fmt: skip
MISSING = frozenset(
    # The last seven are errors of spreadsheet programs.
    [
        "",
        "na",
        "nan",
        "n/a",
        "null",
        "#n/a",
        "#ref!",
        "#div/0!",
        "#value!",
        "#name?",
        "#num!",
        "#null!",
    ]
)
"""Cells without a value, in lower case."""
# What people write for no value: never a class by itself...
UNKNOWN = re.compile(
    r"\?+|\.+|--+|unknown|unk|missing|undetermined|n\.d\.?|n\.a\.?|<na>|-9+"
    r"|not?[ _](data|value|available|applicable|determined|known|reported|recorded|done)",
    re.IGNORECASE,
)
# ... or one that may be meant: no relapse, receptor negative.
NOTHING = re.compile("none|nil|-", re.IGNORECASE)


def counted(number: int, noun: str) -> str:
    """Write ``"1 gene"`` or ``"2 genes"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def size_of(number: float) -> str:
    """Write bytes as ``"14 MB"`` or ``"3.2 GB"``."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.2g} GB" if number < 10 else f"{number:.0f} GB"


def too(further: int, noun: str) -> str:
    """Write ``"; 2 further pairs, too"``, or nothing where there is none."""
    return f"; {counted(further, f'further {noun}')}, too" if further else ""


def also(further: int, one: str, many: str) -> str:
    """Write the same where a noun has a plural of its own."""
    return f"; {further} further {one if further == 1 else many}, too" if further else ""


def listing(names: Iterable[str], most: int = 3) -> str:
    """Write the first names: ``"'P1', 'P2', 'P3' and 7 more"``."""
    names = list(names)
    text = ", ".join(f"'{name}'" for name in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def flow(value: Mapping[str, Any]) -> str:
    """Write a mapping as one line of YAML: ``"{classes: ['2', '3']}"``."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True,
                          width=10_000)  # fmt: skip
    return str(text).strip()


def number_fault(text: str) -> str:
    """Say why a text is no finite number."""
    if not text.strip():
        return "is blank"
    if THOUSANDS.fullmatch(text):
        readings = f"{text.replace(',', '.', 1)} or " if text.count(",") == 1 else ""
        readings += text.replace(",", "")
        return f"is '{text}', with a decimal comma or one of thousands; write {readings}"
    if "," in text and is_number(text.replace(",", ".")):
        return f"is '{text}', with a decimal comma; write {text.replace(',', '.')}"
    if plain := without_thousands(text):
        comma = " and a decimal comma" if re.search(r",\d+$", text.strip()) else ""
        return f"is '{text}', with signs of thousands{comma}; write {plain}"
    if is_missing(text):
        return f"is missing ('{text}')"
    if NUMBER.fullmatch(text):
        return f"is {text.strip()}, larger than any measurement"
    infinite = text.strip().lower().lstrip("+-").startswith("inf")
    return f"is infinite ('{text}')" if infinite else f"is '{text}', not a number"


def without_thousands(text: str) -> str:
    """Return ``"1234.5"`` for ``"1,234.5"`` and its like; '' for a text that is none of them."""
    found = GROUPED.fullmatch(text.strip())
    if found is None or NUMBER.fullmatch(text) or THOUSANDS.fullmatch(text.strip()):
        return ""
    whole = found[1].replace(found["apart"], "")
    return f"{whole}.{found[4]}" if found["sign"] else whole


def is_missing(text: str) -> bool:
    """Tell whether a cell is blank, or one of the words that programs write for no value."""
    return text.strip().lower() in MISSING


def is_unknown(text: str) -> bool:
    """Tell whether a cell has no value, be it by a word such as '-- or [Not Available]."""
    return is_missing(text) or UNKNOWN.fullmatch(text.strip(" '[]")) is not None


def is_number(text: str) -> bool:
    """Tell whether a text is a number that may have been measured."""
    return NUMBER.fullmatch(text) is not None and abs(float(text)) <= LARGEST


def alike(names: Iterable[str], key: Callable[[str], str] | None = None) -> list[list[str]]:
    """Find the names that differ in upper and lower case, blanks or invisible characters only.

    `key` (name) -> str is equal for names that are alike in another sense.
    """
    key = as_seen if key is None else key
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def misspelt(one: str, other: str) -> bool:
    """Tell whether one of two words may be the other with a letter too many, too few or changed.

    In words of four letters or more; not at the beginning, where "a" says no; and not by another
    last letter or a Roman numeral, which make names of their own ("LumA", "stage II").
    """
    short, long = sorted((as_seen(one), as_seen(other)), key=len)
    last = {word.split()[-1] for word in (short, long) if word}
    if len(short) < 4 or any(set(word) <= set("ivx") for word in last):
        return False
    if len(short) == len(long):
        apart = [k for k in range(len(long)) if short[k] != long[k]]
        odd = [short[k] for k in apart] + [long[k] for k in apart]
        return len(apart) == 1 and 0 < apart[0] < len(long) - 1 and all(map(str.isalpha, odd))
    left_out = (long[:k] + long[k + 1 :] for k in range(1, len(long)) if long[k].isalpha())
    return len(long) == len(short) + 1 and short in left_out


def as_seen(name: str) -> str:
    """Return what a reader tells names apart by."""
    if not name.isascii():  # one accented letter or two, of full width, soft hyphens
        seen = unicodedata.normalize("NFKC", name)
        name = "".join(letter for letter in seen if unicodedata.category(letter) != "Cf")
    return " ".join(name.split()).casefold()


def as_word(name: str) -> str:
    """Return what a reader tells words apart by: dashes of all kinds, _ and blanks join alike.

    A dash at the end, or before or behind anything but a letter, stays: it may be a minus.
    """
    name = "".join("-" if letter in DASHES else letter for letter in as_seen(name))
    return re.sub(r"(?<=[^\W\d_])[-_ ]+(?=[^\W_])", " ", name)


def control_first(names: Sequence[str]) -> list[str]:
    """Put the class of the controls before the other one; leave both as they are if in doubt.

    Only words that the other name lacks tell: of "no relapse" and "relapse" the first is the
    control, of "normal karyotype" and "complex karyotype", too, and "No 1" and "No 2" are none.
    """
    one, other = ({*re.findall(r"[^\W_]+|-$", name.casefold())} for name in names)
    held_against = [_of_controls(one - other), _of_controls(other - one)]
    return list(names)[::-1] if held_against == [False, True] else list(names)


def _of_controls(words: set[str]) -> bool:
    controls = {word for word in words if CONTROL.fullmatch(word)}
    return bool(controls) and all(BESIDE.fullmatch(word) for word in words - controls)

"""Words that messages of all checks share, and rules to read cells and names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

# words in the name of a control class, such as "healthy donors"
CONTROL_WORDS = re.compile(
    "controls?|ctrls?|normals?|healthy|benign|wt|wild|wildtype|untreated|unaffected|vehicle|mock"
    "|nontumou?r(al|ous)?|noncancer(ous)?|nonmalignant|paratumou?r(al|ous)?|nat"
    "|placebo|remission|stable|alive|survivors?|neg|negative|non|not|no|none|without|false|0|-"
)
# words that may be beside them in that name
NEUTRAL_WORDS = re.compile(
    "(group|tissue|sample|subject|donor|individual|volunteer|patient|person|cell|type|adjacent)s?"
    # As the GDC calls normal samples: Solid Tissue Normal, Blood Derived Normal, and others.
    "|solid|blood|derived|bone|marrow|buccal|matched|paired|mucosa|epithelium|nat|to|the"
)
# hyphens, dashes and the minus that word processors write for the - of the keyboard
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
# Ids of genes: of Ensembl, with its version, and of NCBI Gene.
ENSEMBL = re.compile(r"ENS[A-Z]{0,6}G\d{11}(\.\d+)?", re.ASCII)
ENTREZ = re.compile(r"\d{1,9}", re.ASCII)
# float() also takes 4_2 for 42, and the digits of every alphabet.
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.ASCII | re.IGNORECASE)
MAX_VALUE = 1e100  # a larger value is no measurement, and its square is infinite
MIN_SPREAD = 1 / MAX_VALUE  # a smaller spread counts as 0, since its square cannot be a divisor
# Thousands, as 8,123 or 1,234,567; but 0,123 is a decimal comma.
THOUSANDS_BY_COMMA = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
# Numbers with separators of thousands (group `separator`) that are not the decimal sign (`sign`):
# 1,234.5, 1.234,5, 1'234.5, 1 234,5. Points alone count from two on, as 1.234 is a number.
GROUPED_NUMBER = re.compile(
    r"([-+]?\d{1,3}(?:(?P<separator>[.,' \u00a0\u2019\u202f])\d{3})"
    r"(?:(?P=separator)\d{3})*)(?:(?P<sign>(?!(?P=separator))[.,])(\d+))?"
)
# cells without a value, in lower case; the last seven are errors of spreadsheet programs
MISSING_CELLS = frozenset(
    [
        *("", "na", "nan", "n/a", "null"),
        *("#n/a", "#ref!", "#div/0!", "#value!", "#name?", "#num!", "#null!"),
    ]
)
# What instruments write for a value that is too small or too large: <3.2, OOR >, <LOD.
BEYOND_LIMIT = re.compile(
    r"[<>\u2264\u2265]\s*(\d.*|L?LO[DQ])|OOR\s*[<>]|LOD|LL?OQ|BLQ|BL?DL", re.IGNORECASE
)
# words for an unknown value that cannot mean a class
UNKNOWN_VALUE = re.compile(
    r"\?+|\.+|--+|unknown|unk|missing|undetermined|n\.d\.?|n\.a\.?|<na>|-9+"
    r"|not?[ _](data|value|available|applicable|determined|known|reported|recorded|done|tested"
    r"|evaluated|evaluable|assessed|assessable|performed)|discrepancy",
    re.IGNORECASE,
)
# Responses to a treatment, beside which NE says "not evaluable"; elsewhere it may be a class.
RESPONSE_WORD = re.compile(
    r"i?[CMPS]R|VGPR|[SP]D|N?R|(non[-_ ]?)?responders?|(complete|partial) response"
    r"|(stable|progressive) disease",
    re.IGNORECASE,
)
# words for an unknown value that may also be a class: no relapse, receptor negative
DOUBTFUL_UNKNOWN = re.compile("none|nil|-", re.IGNORECASE)


MAX_COUNTED_WORDS = 6  # words of a column that a message lists with their numbers of samples


def counted(number: int, noun: str) -> str:
    """Return "1 gene" or "2 genes", "2 classes"."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"


def size_of(number: float) -> str:
    """Return a number of bytes as text, "14 MB" or "3.2 GB"."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.2g} GB" if number < 10 else f"{number:.0f} GB"


def further_text(n_further: int, noun: str) -> str:
    """Return "; 2 further pairs, too"; "" for 0."""
    return f"; {counted(n_further, f'further {noun}')}, too" if n_further else ""


def further_in_brackets(n_further: int, noun: str) -> str:
    """Return " (2 further cells)"; "" for 0."""
    return f" ({counted(n_further, f'further {noun}')})" if n_further else ""


def word_counts_text(n_samples_of_word: Counter[str]) -> str:
    """Return the six most frequent words and their numbers of samples: "'case' (12), 'NA' (9)"."""
    return ", ".join(
        f"'{word}' ({n_samples})"
        for word, n_samples in n_samples_of_word.most_common(MAX_COUNTED_WORDS)
    )


def listing(names: Iterable[str], max_names: int = 3) -> str:
    """Return the first names: "'P1', 'P2', 'P3' and 7 more"."""
    names = list(names)
    text = ", ".join(f"'{name}'" for name in names[:max_names])
    return text + (f" and {len(names) - max_names} more" if len(names) > max_names else "")


def flow_yaml(value: Mapping[str, Any]) -> str:
    """Return a mapping as one line of YAML: "{classes: ['2', '3']}"."""
    import yaml

    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    )
    return str(text).strip()


def number_fault_kind(text: str) -> str:
    """Return the kind of reason why a text is no finite number: "comma" for "1,5".

    text: one that `is_number` refuses.
    """
    if not text.strip():
        return "blank"
    if THOUSANDS_BY_COMMA.fullmatch(text.strip()):
        return "ambiguous comma"
    if "," in text and is_number(text.replace(",", ".")):
        return "comma"
    if without_thousands(text):
        return "thousands and comma" if re.search(r",\d+$", text.strip()) else "thousands"
    if is_missing(text):
        return "missing"
    if NUMBER.fullmatch(text):
        return "large"
    if BEYOND_LIMIT.fullmatch(text.strip()):
        return "limit"
    return "infinite" if text.strip().lower().lstrip("+-").startswith("inf") else "word"


def number_fault(text: str) -> str:
    """Return why a text is no finite number, as a verb and its object: "is 'high', not a number".

    text: one that `is_number` refuses.
    """
    kind = number_fault_kind(text)
    plain_number = without_thousands(text)
    with_point = text.strip().replace(",", ".")
    # Several commas cannot be decimal.
    readings = f"{with_point} or " if text.count(",") == 1 else ""
    readings += text.strip().replace(",", "")
    return {
        "blank": "is blank",
        "ambiguous comma": (
            f"is '{text}', with a decimal comma or one of thousands; write {readings}"
        ),
        "comma": f"is '{text}', with a decimal comma; write {with_point}",
        "thousands": f"is '{text}', with signs of thousands; write {plain_number}",
        "thousands and comma": (
            f"is '{text}', with signs of thousands and a decimal comma; write {plain_number}"
        ),
        "missing": f"is missing ('{text}')",
        "large": f"is {text.strip()}, larger than any measurement",
        "limit": f"is '{text}', beyond a limit of detection",
        "infinite": f"is infinite ('{text}')",
        "word": f"is '{text}', not a number",
    }[kind]


def without_thousands(text: str) -> str:
    """Return "1234.5" for "1,234.5" and similar texts; "" for any other."""
    match = GROUPED_NUMBER.fullmatch(text.strip())
    if match is None or NUMBER.fullmatch(text) or THOUSANDS_BY_COMMA.fullmatch(text.strip()):
        return ""
    integer_part = match[1].replace(match["separator"], "")
    return f"{integer_part}.{match[4]}" if match["sign"] else integer_part


def is_missing(text: str) -> bool:
    """Tell whether a cell is blank, or one of the words that programs write for no value."""
    return text.strip().lower() in MISSING_CELLS


def says_unknown(text: str) -> bool:
    """Tell whether a cell says that there is no value by a word such as '-- or [Not Available]."""
    return UNKNOWN_VALUE.fullmatch(text.strip(" '[]")) is not None


def words_not_evaluable(words: Collection[str]) -> list[str]:
    """Return the words NE, "not evaluable", of a column; [] if no word is a treatment response."""
    candidates = [word for word in words if word.strip().casefold() in ("ne", "inevaluable")]
    has_responses = candidates and any(RESPONSE_WORD.fullmatch(word.strip()) for word in words)
    return candidates if has_responses else []


def is_unknown(text: str) -> bool:
    """Tell whether a cell has no value: it is missing, or has a word that says so."""
    return is_missing(text) or says_unknown(text)


def is_number(text: str) -> bool:
    """Tell whether a text is a number that may have been measured."""
    return NUMBER.fullmatch(text) is not None and abs(float(text)) <= MAX_VALUE


def is_size(text: str) -> bool:
    """Tell whether a text is a whole number of one to nine digits, as sizes stated in files are."""
    return text.isascii() and text.isdigit() and len(text) < 10


def equal_looking(names: Iterable[str], key: Callable[[str], str] | None = None) -> list[list[str]]:
    """Return groups of two or more names that differ in case, blanks or invisible characters only.

    key: takes a name; names with the same result look equal. None is `as_read`.
    """
    key = as_read if key is None else key
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


NAME_FORMS: dict[str, Callable[[str], str]] = {
    "letter width or accents": lambda name: unicodedata.normalize("NFKC", name),
    "invisible characters": lambda name: "".join(
        letter for letter in name if unicodedata.category(letter) != "Cf"
    ),
    "blanks": lambda name: " ".join(name.split()),
    "upper and lower case": str.casefold,
}
"""Differences that readers overlook -> function that removes them, in the order of `as_read`."""


def overlooked_differences(groups: Iterable[Sequence[str]]) -> str:
    """Return in what the names of each group differ, such as "blanks, upper and lower case".

    The names of a group are those that `equal_looking` finds. A difference counts if names stay
    different after all others are removed.
    """
    all_groups = list(groups)
    differences = []
    for difference in NAME_FORMS:
        for group in all_groups:
            forms = set(group)
            for other, remove in NAME_FORMS.items():
                forms = forms if other == difference else {remove(name) for name in forms}
            if len(forms) > 1:
                differences.append(difference)
                break
    return ", ".join(differences) or "characters that look alike"


def is_misspelt(name: str, other_name: str) -> bool:
    """Tell whether two names may be one name with a letter too many, too few or changed.

    Names have at least four characters. An added, missing or changed first letter does not count
    ("a" is a negation), nor a changed last letter ("LumA", "LumB"); an added or missing last letter
    does. Names that end in a Roman numeral are different names ("stage II").
    """
    short_name, long_name = sorted((as_read(name), as_read(other_name)), key=len)
    last_words = {text.split()[-1] for text in (short_name, long_name) if text}
    if len(short_name) < 4 or any(set(numeral) <= set("ivx") for numeral in last_words):
        return False
    if len(short_name) == len(long_name):
        differing = [
            position
            for position in range(len(long_name))
            if short_name[position] != long_name[position]
        ]
        changed_letters = [short_name[position] for position in differing] + [
            long_name[position] for position in differing
        ]
        return (
            len(differing) == 1
            and 0 < differing[0] < len(long_name) - 1
            and all(map(str.isalpha, changed_letters))
        )
    shortened = (
        long_name[:position] + long_name[position + 1 :]
        for position in range(1, len(long_name))
        if long_name[position].isalpha()
    )
    return len(long_name) == len(short_name) + 1 and short_name in shortened


def as_read(name: str) -> str:
    """Return a name without the differences that a reader does not see."""
    if not name.isascii():
        # NFKC: accents in one letter with theirs, usual width; Cf: soft hyphens and the like.
        normalised = unicodedata.normalize("NFKC", name)
        name = "".join(letter for letter in normalised if unicodedata.category(letter) != "Cf")
    return " ".join(name.split()).casefold()


def as_word(name: str) -> str:
    """Return a name with dashes of all kinds, _ and blanks between letters as one blank.

    A dash at the end, or beside anything but a letter, stays: it may be a minus.
    """
    name = "".join("-" if letter in DASHES else letter for letter in as_read(name))
    return re.sub(r"(?<=[^\W\d_])[-_ ]+(?=[^\W_])", " ", name)


def control_first(names: Sequence[str]) -> list[str]:
    """Return the two classes with the control class first; unchanged if in doubt.

    Only words that the other name lacks decide: in "no relapse" and "relapse" the first is the
    control, in "normal karyotype" and "complex karyotype", too; in "No 1" and "No 2" neither.
    Of two numbers of which neither or both are controls, the smaller one stands first.
    """
    # "-$" is the minus of a name such as "HER2-".
    words, other_words = ({*re.findall(r"[^\W_]+|-$", name.casefold())} for name in names)
    is_control = [_are_control_words(words - other_words), _are_control_words(other_words - words)]
    if is_control[0] == is_control[1] and all(map(is_number, names)):
        return sorted(names, key=float)
    return list(names)[::-1] if is_control == [False, True] else list(names)


def names_control(name: str) -> bool:
    """Tell whether a class is called as a control: "healthy" is, "relapse" is not."""
    return _are_control_words({*re.findall(r"[^\W_]+|-$", name.casefold())})


def _are_control_words(words: set[str]) -> bool:
    """Tell whether one of the words names a control class, and the others may be beside it."""
    controls = {word for word in words if CONTROL_WORDS.fullmatch(word)}
    return bool(controls) and all(NEUTRAL_WORDS.fullmatch(word) for word in words - controls)

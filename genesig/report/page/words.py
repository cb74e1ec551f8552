"""Numbers, counts and names as text for readers, and links to pages about a gene."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote
from zlib import crc32

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.page.record import Exclusions
from genesig.words import ENSEMBL as ENSEMBL_ID
from genesig.words import ENTREZ

ABSENT = "–"  # text of an undefined number
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# characters that a page cannot show, or that change the direction of the text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e]+")


def counts_by_kind(dropped: Sequence[Exclusions]) -> str:
    """Return ``"14 samples and 3 genes"``, the numbers of those left out, by kind."""
    count: dict[str, int] = {}
    for exclusion in dropped:
        count[exclusion["kind"]] = count.get(exclusion["kind"], 0) + exclusion["count"]
    return " and ".join(counted(number, kind) for kind, number in count.items())


def counted(number: int, noun: str) -> str:
    """Return ``"1 gene"``, ``"2 genes"``, ``"3 classes"``."""
    plural = noun + ("es" if noun.endswith(("s", "ch")) else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def genes_and_indicators(genes: int, indicators: int) -> str:
    """Return ``"5 genes and 2 missing-value indicators"``."""
    if not indicators:
        return counted(genes, "gene")
    text = counted(indicators, "missing-value indicator")
    return f"{counted(genes, 'gene')} and {text}" if genes else text


def enumerated(names: Sequence[str]) -> str:
    """Return ``"age, sex and centre"``."""
    *leading_names, last_name = map(clean, names)
    return f"{', '.join(leading_names)} and {last_name}" if leading_names else last_name


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with `digits` decimals, or with two significant digits if it would become 0.

    `ABSENT` for None, NaN and infinity.
    """
    if value is None or not math.isfinite(value):
        return ABSENT
    if value and abs(value) < 0.5 * 10**-digits:
        return significant(value, 2)
    return with_minus_sign(f"{value:.{digits}f}")


def power_of_ten(exponent: int) -> str:
    """Return ``"10⁻³"``."""
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def significant(value: float | None, digits: int = 3) -> str:
    """Round to significant digits, without trailing zeros; small ones as 3.1 × 10⁻⁶.

    Below ten millions all digits before the point are kept; from there on 1.2 × 10⁷.
    """
    if value is None or not math.isfinite(value):
        return ABSENT
    if 10**digits <= abs(value) < 1e7:
        return with_minus_sign(f"{value:.0f}")
    number, _, exponent = f"{value:.{digits}g}".partition("e")
    factor = f"\u2009×\u2009{power_of_ten(int(exponent))}" if exponent else ""
    return with_minus_sign(number) + factor


def two_digits(value: float) -> str:
    """Round to two significant digits and keep zeros at the end: ``"0.020"``."""
    text = f"{value:#.2g}"
    return significant(value, 2) if "e" in text else text


def power(value: float) -> str:
    """Write a small or large power of ten as 10⁻³, any other number with three digits."""
    text = f"{value:.0e}"
    if value > 0 and text.startswith("1e") and float(text) == value and not 0.01 < value < 100:
        return power_of_ten(int(text[2:]))
    return significant(value)


def samples_in_groups(samples: int, groups: int | None) -> str:
    """Return ``"60 samples in 20 groups"``; without groups the samples alone."""
    text = counted(samples, "sample")
    return text if groups is None else f"{text} in {counted(groups, 'group')}"


def percent(value: float | None, digits: int = 0) -> str:
    """Return a share in per cent: ``"12%"``."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return with_minus_sign(f"{100 * value:.{digits}f}") + "%"


def rate(value: float | None) -> str:
    """Return a share in per cent, with a decimal if it is below 10% or above 90%."""
    is_whole = value is None or value in (0, 1) or 0.0995 <= abs(value) <= 0.9005
    return percent(value, 0 if is_whole else 1)


CARDINALS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def in_words(number: int) -> str:
    """Return ``"three"``; numbers above ten as digits."""
    return CARDINALS[number] if number < len(CARDINALS) else f"{number}"


def expected_number(expected: float, count: int) -> str:
    """Return ``"Expect about 4 false positives among the 36"``; rounded up."""
    if count == 1:
        return f"The expected number of false positives is {significant(expected, 2)}"
    if expected < 1.0:
        return f"On average, fewer than 1 of the {count} is false"
    rounded_up = math.ceil(expected - 1e-6)  # 4.0000001 is 4
    return f"Expect about {counted(rounded_up, 'false positive')} among the {count}"


Write = Callable[[float | None], str]  # a function that writes a number, such as `percent`


def span(low: float | None, high: float | None, write: Write) -> str:
    """Return ``"82–100%"``, ``"0.25–0.73"``, or ``"−0.01 to 0.07"`` if a limit is negative."""
    lower = write(low)
    upper = write(high)
    if "\u2212" in lower + upper or "\u2009" in lower + upper:
        return f"{lower} to {upper}"
    return f"{lower.removesuffix('%')}–{upper}"


def confidence(low: float | None, high: float | None, write: Write) -> str:
    """Return ``"95% CI 82–100%"``; nothing if a limit is absent."""
    return "" if low is None or high is None else f"95% CI {span(low, high, write)}"


def bracketed_confidence(low: float | None, high: float | None, write: Write) -> str:
    """Return ``" (95% CI 82–100%)"``; nothing if a limit is absent."""
    limits = confidence(low, high, write)
    return f" ({limits})" if limits else ""


def p_value(value: float | None) -> str:
    """Return ``"p = 0.0099"``, without a line break inside."""
    return f"p\u00a0=\u00a0{significant(value, 2)}"


def with_limits(name: str, value: float | None, low: float | None, high: float | None) -> str:
    """Return ``"AUC 0.92 (0.79–1.00)"``; the value alone if a limit is absent."""
    text = f"{name} {decimal(value)}"
    if low is None or high is None:
        return text
    return f"{text} ({span(low, high, decimal)})"


def shown_of_total(n_shown: int, total: int, noun: str, selection: str = "") -> str:
    """Return ``" 60 of 300 samples are shown, evenly spaced."``; empty if all are shown."""
    if n_shown == total:
        return ""
    return f" {n_shown:,} of {counted(total, noun)} are shown{selection}."


def first_of_total(n_shown: int, total: int, noun: str) -> str:
    """Return ``" The first 60 of 300 genes are shown."``; empty if all are shown."""
    if n_shown == total:
        return ""
    return f" The first {n_shown:,} of {counted(total, noun)} are shown."


def with_minus_sign(text: str) -> str:
    """Return a number with a true minus sign; a zero has none."""
    digits = text.removeprefix("-")
    return f"\u2212{digits}" if digits != text and digits.strip("0.") else digits


def clean(name: object) -> str:
    """Return a name with control and direction characters replaced by a space."""
    return _CONTROL.sub(" ", str(name)).strip()


def file_name(path: str) -> str:
    """Return the name of a file without its folder."""
    return PurePath(path).name


def scheme_words(scheme: object) -> str:
    """Return ``"stratified k-fold"`` for the scheme ``stratified_kfold``."""
    return clean(scheme).replace("_", " ").replace("kfold", "k-fold")


def shorten(name: object, max_letters: int) -> str:
    """Return a name cut to so many letters, after a whole word if possible, with an ellipsis."""
    text = clean(name)
    if len(text) <= max_letters:
        return text
    cut = text[: max_letters - 1]
    words, space, _ = cut.rpartition(" ")
    ends_at_word = text[max_letters - 1] == " "
    has_few_words = not space or len(words) < max_letters // 3  # without the word that was cut
    return (cut if ends_at_word or has_few_words else words).rstrip() + "…"


def gene_label(gene: str, symbol: str | None, max_letters: int = 38) -> str:
    """Return ``"CST3 · X95735_at"``: symbol and id, in about so many letters."""
    if not symbol or symbol == gene:
        return shorten(gene, max_letters)
    gene_id = shorten(gene, 22)
    symbol_letters = max(max_letters - len(f" · {gene_id}"), 8)  # of any symbol some are legible
    return f"{shorten(symbol, symbol_letters)} · {gene_id}"


_SYMBOL = re.compile(r"[A-Z][A-Z0-9-]{1,9}$|C\d+orf\d+$")  # CST3, HLA-A, C1orf112
# first words of descriptions that look like symbols
_CAPITAL_WORDS = {"ATP", "CAMP", "CDNA", "DNA", "GTP", "HUMAN", "MHC", "MRNA", "NAD", "NADH", "RNA"}
_NOT_ID_CHARACTERS = re.compile(r"[^A-Za-z0-9]+")
NCBI = "https://www.ncbi.nlm.nih.gov/gene/"
ENSEMBL = "https://www.ensembl.org/"
GENECARDS = "https://www.genecards.org/cgi-bin/carddisp.pl?gene="


class Link(NamedTuple):
    """A link to a page about a gene."""

    name: str
    url: str


def gene_anchor(gene: str) -> str:
    """Return the id of the card of a gene on the page."""
    return f"gene-{_NOT_ID_CHARACTERS.sub('-', gene)[:24]}-{crc32(gene.encode()):08x}"


def gene_links(gene: str, symbol: str) -> list[Link]:
    """Return links to pages about a gene; to a search if neither an id nor a symbol is known."""
    gene = gene.removesuffix(INDICATOR_SUFFIX)
    symbol = symbol.removesuffix(INDICATOR_SUFFIX)
    gene_symbol = short_symbol(symbol) or short_symbol(gene)
    ids = [clean(gene).split()[0] if clean(gene) else "", clean(symbol)]
    entrez = next((text for text in ids if ENTREZ.fullmatch(text)), None)
    ensembl = next((text.split(".")[0] for text in ids if ENSEMBL_ID.fullmatch(text)), None)
    if entrez or ensembl or gene_symbol:
        return _links_by_id(entrez, ensembl, gene_symbol)
    return [Link("NCBI search", f"{NCBI}?term={quote(clean(symbol or gene)[:80], safe='')}")]


def _links_by_id(entrez: str | None, ensembl: str | None, symbol: str | None) -> list[Link]:
    """Return links to pages that know the ids or the symbol, of which at least one is given."""
    ncbi_path = entrez or f"?term={ensembl or quote(f'{symbol}[sym]', safe='')}"
    links = [Link("NCBI", NCBI + ncbi_path)]
    if ensembl or symbol:
        ensembl_path = f"id/{ensembl}" if ensembl else f"Multi/Search/Results?q={symbol}"
        links.append(Link("Ensembl", ENSEMBL + ensembl_path))
        links.append(Link("GeneCards", f"{GENECARDS}{symbol or ensembl}"))
    return links


def short_symbol(text: str) -> str | None:
    """Return the symbol that a text is, or begins with (``CST3 Cystatin C``); None without one.

    A first word in front of others counts if it has a digit, or if words in small letters follow,
    so CYSTATIN A has no symbol. Words of `_CAPITAL_WORDS` do not count: RNA polymerase II. The
    symbol of a missing-value indicator keeps its suffix.
    """
    if text.endswith(INDICATOR_SUFFIX):
        short = short_symbol(text.removesuffix(INDICATOR_SUFFIX))
        return None if short is None else short + INDICATOR_SUFFIX
    words = clean(text).split()
    if not words or not _SYMBOL.match(words[0]) or ENSEMBL_ID.fullmatch(words[0]):
        return None
    is_symbol = any(c.isdigit() for c in words[0]) or any(c.islower() for c in "".join(words[1:]))
    return words[0] if len(words) == 1 or (is_symbol and words[0] not in _CAPITAL_WORDS) else None

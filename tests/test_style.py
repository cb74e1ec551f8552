"""No text for readers uses the words that docs/style.md avoids."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.slow

AVOID = {
    "named genes": (r"\bcan be named\b|\bnamed genes?\b", "FDR-selected genes"),
    "price of proof": (r"\bprice of proof\b", "difference in error, FDR-selected genes only"),
    "half-frequency": (
        r"\bhalf-frequenc(?:y|ies)\b|\blists? of halves\b|\bhalves (?:\w+ ){0,3}lists?\b",
        "selection frequency (random halves)",
    ),
    "evidence of its own": (
        r"\bevidence of (?:its|their) own\b",
        "FDR-selected / not FDR-selected",
    ),
    "guessing": (r"\bguessing\b", "chance (state the number)"),
    "unseen samples": (r"\bunseen samples?\b", "held-out samples"),
    "double loop": (
        r"\b(?:double|nested)(?: cross-validation)? loop\b|\bdouble cross-validation\b",
        "nested cross-validation",
    ),
    "rivals": (r"\brivals?\b|\b(?:[Oo]ther|every|best) predictors?\b", "other methods"),
    "confirmed": (
        r"\b(?:confirmed|supported) (?:in|elsewhere)\b|\b[Ii]ndependent of batch",
        "better than chance in external cohorts / weakly associated with batch",
    ),
    "told apart": (
        r"\b(?:told|tell|tells) (?:\w+ ){0,3}(?:apart|from (?:chance|the))\b",
        "distinguish / exceed chance",
    ),
    "goes with": (
        r"\bgo(?:es)? with the (?:label|response|outcome|class)\b",
        "is associated with",
    ),
    "held fixed": (r"\bh(?:eld|olds?) fixed\b", "adjusted for"),
    "in place of": (r"\bin (?:the )?place of\b", "instead of"),
    "anew": (r"\banew\b", "again"),
    "leading dot": (r"(?<![\w.%])[−-]?\.\d", "a zero before the decimal point"),
    "thousands": (
        r"(?<![\w.,#/()-])[1-9]\d{3,}(?= (?:genes|samples|patients|proteins|probes|sets|groups)\b)"
        r"|\b\d{1,3}[ \u00a0\u202f]\d{3}\b",
        "a comma from 1,000 on",
    ),
    "space before %": (r"\d[ \u00a0\u202f]%(?!\})", "no space before the per cent sign"),
}
"""Name of each word to avoid, its pattern, and the words to write instead."""
QUOTING = ("docs/style.md", "docs/reference/glossary.md")
"""Pages that quote words to avoid."""
GENERATED = ("docs/reference/command_line.md", "benchmarks/results/methods.md")
"""Pages that programs write from texts which are counted elsewhere."""
ALLOWED: dict[str, dict[str, int]] = {
    "genesig/report": {"leading dot": 1},
    "genesig, other folders": {"leading dot": 4},
}
"""Counts that may only fall: suffixes and patterns that are strings, but not texts."""

CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]+`|^ {4}[^\n]*$", re.MULTILINE | re.DOTALL)
SETTINGS_TABLE = re.compile(r"^## All settings$.*", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """Return the text of each page without its code; the tables of settings are the schema's."""
    paths = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for folder in ("docs", "config", "benchmarks", "resources"):
        paths += (ROOT / folder).rglob("*.md")
    names = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return {
        name: CODE.sub("", SETTINGS_TABLE.sub("", path.read_text(encoding="utf-8")))
        for name, path in names.items()
        if name not in (*QUOTING, *GENERATED)
    }


def strings(paths: Iterable[Path]) -> str:
    """Return the strings of modules, one a line, without docstrings and formats of numbers."""
    texts = []
    for path in paths:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        formats = [n.format_spec for n in nodes if isinstance(n, ast.FormattedValue)]
        skipped |= {id(part) for spec in formats if spec for part in ast.walk(spec)}
        texts += [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in skipped
        ]
    return "\n".join(texts)


def joined(folder: str, pattern: str) -> str:
    """Return the texts of the files of a folder."""
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / folder).rglob(pattern)))


def other_texts() -> dict[str, str]:
    """Return the texts of the package and the workflow, by folder."""
    report = set((ROOT / "genesig/report").rglob("*.py"))
    package = set((ROOT / "genesig").rglob("*.py")) - report
    return {
        "genesig/report": strings(report),
        "genesig/report, templates": joined("genesig/report", "*.j2"),
        "genesig, other folders": strings(package),
        "workflow/schemas": joined("workflow/schemas", "*.yaml"),
        "workflow/report": joined("workflow/report", "*.rst"),
    }


PAGES = pages()
OTHER_TEXT_SOURCES = other_texts()


def counts(text: str) -> dict[str, int]:
    """Return how often each word to avoid occurs, if it does."""
    counts_by_word = {name: len(re.findall(pattern, text)) for name, (pattern, _) in AVOID.items()}
    return {name: count for name, count in counts_by_word.items() if count}


@pytest.mark.parametrize("word", AVOID)
def test_pages_avoid_words(word):
    counts_by_page = {page: n for page, text in PAGES.items() if (n := counts(text).get(word))}
    assert counts_by_page == {}, f"write: {AVOID[word][1]}"


@pytest.mark.parametrize("folder", OTHER_TEXT_SOURCES)
def test_counts_in_other_texts_only_fall(folder):
    allowed = ALLOWED.get(folder, {})
    risen_counts = {
        word: n
        for word, n in counts(OTHER_TEXT_SOURCES[folder]).items()
        if n > allowed.get(word, 0)
    }
    assert risen_counts == {}, [f"write: {AVOID[word][1]}" for word in risen_counts]


def test_patterns_find_their_words():
    text = "In .5 % of named genes no rivals, guessing; held fixed anew in place of price of proof."
    assert len(counts(text)) == 9

"""One thing has one name: words that the glossary leaves aside stand in no text for people."""

import ast
import re

import pytest
from places import ROOT

pytestmark = pytest.mark.slow

GLOSSARY = ROOT / "docs/reference/glossary.md"
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ?([^|]*)\|$", GLOSSARY.read_text(), re.MULTILINE)[2:]
ASIDE = sorted(word.strip() for *_, words in ROWS for word in words.split(",") if word.strip())
PAGES = [
    *(p for p in (ROOT / "docs").rglob("*.md") if p != GLOSSARY),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "config/README.md")),
    *(ROOT / "workflow/schemas").glob("*.yaml"),
    *(ROOT / "genesig/report/page/templates").glob("*"),
]


def texts() -> dict[str, str]:
    """Return what people read: pages, and the strings of the package but for its docstrings."""
    found = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in PAGES}
    for path in (ROOT / "genesig").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        strings = [
            n.value for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in alone
        ]  # fmt: skip
        found[str(path.relative_to(ROOT))] = "\n".join(strings).replace("\u00a0", " ")
    return found


TEXTS = texts()


def test_the_terms_are_in_order_and_explained():
    terms = [term for term, *_ in ROWS]
    assert len(terms) > 25
    assert terms == sorted(terms, key=str.lower)
    assert all(meaning.strip() for _, meaning, _ in ROWS)


@pytest.mark.parametrize("word", ASIDE)
def test_no_other_word_is_used(word):
    phrase = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    assert [name for name, text in TEXTS.items() if phrase.search(text)] == []

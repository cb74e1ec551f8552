"""The glossary: each term is explained once, in order, with the words that readers search for."""

import re
from collections import Counter

import pytest
from places import ROOT

pytestmark = pytest.mark.slow

TEXT = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ?([^|]*)\|$", TEXT, re.MULTILINE)[2:]
SYNONYMS = [word.strip() for *_, words in ROWS for word in words.split(",") if word.strip()]


def test_terms_of_the_glossary_are_in_order_and_explained():
    terms = [term for term, *_ in ROWS]
    assert len(terms) > 40
    assert terms == sorted(terms, key=str.lower)
    assert all(meaning.strip() for _, meaning, _ in ROWS)


def test_synonyms_belong_to_one_term_and_are_no_terms():
    terms = {term.lower() for term, *_ in ROWS}
    assert [word for word, n in Counter(SYNONYMS).items() if n > 1] == []
    assert [word for word in SYNONYMS if word.lower() in terms] == []


@pytest.mark.parametrize(
    "word", ["c-statistic", "95% interval", "label", "baseline", "prototype", "adjusted p"]
)
def test_words_that_readers_search_for_are_synonyms(word):
    assert word in SYNONYMS

"""What a page claims, held against the typed record that it was written from."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from genesig.report.methods import methods, references
from genesig.report.page.verdict import Grade, grade, headline, here
from genesig.report.page.words import rate

POSITIVE = re.compile(r"Gene expression (distinguishes|predicts|adds to)")
SUCCESS = ('class="card"', 'class="chips"', 'id="figure-decision_curve"', "mislabelling",
           'class="good"')  # fmt: skip


def contradictions(data: Any, page: str) -> list[str]:
    """Return what the page says against its record, or against itself; nothing is good."""
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    return [
        *_grade(data, page, text),
        *_numbers(data, text),
        *_cohorts(data, text),
        *_cited(data),
    ]


def _grade(data: Any, page: str, text: str) -> Iterator[str]:
    said = re.findall(r'<p class="grade \w+">([^<]+)</p>', page)
    if said != [grade(data).value]:
        yield f"graded {grade(data).value}, the page says {said}"
    if f'<body class="{grade(data).name.lower()}">' not in page:
        yield "the colours of the figures are not those of the grade"
    if " ".join(headline(data).split()) not in text:
        yield "the first sentence is not that of the grade"
    supported = grade(data) in (Grade.HERE, Grade.ELSEWHERE, Grade.AGAINST)
    if POSITIVE.search(text) and not supported:
        yield f"{grade(data).value}, and a sentence claims {POSITIVE.findall(text)}"
    if "There is no evidence that" in text and grade(data) is not Grade.NONE:
        yield f"{grade(data).value}, and a sentence denies it"
    if grade(data) is Grade.NONE:
        yield from (f"no evidence, and the page has {one}" for one in SUCCESS if one in page)
    chance = re.search(r"Better than chance: (supported|with caution|not supported|not ass)", text)
    if chance and chance[1] == "supported" and here(data) is not Grade.HERE:
        yield "the light of chance is on, the models show nothing"


def _numbers(data: Any, text: str) -> Iterator[str]:
    """Compare what stands in several places: the error, p, and the number of named genes."""
    it = data["answer"]
    if it["error"]["value"] is not None and data["study"]["classes"]:
        for where in (r"\(balanced error ([\d.]+ %), guessing",
                      r"Balanced error on unseen samples ([\d.]+ %)"):  # fmt: skip
            found = set(re.findall(where, text))
            if found != {" ".join(rate(it["error"]["value"]).split())}:
                yield f"the error is {it['error']['value']}, {where} finds {found}"
    p = set(re.findall(r"whole analysis did as well \(p = ([^),;]+)", text))
    p |= set(re.findall(r"permutation p = ([\d.× ⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+) ?\(", text))
    if len({one.strip() for one in p}) > 1:
        yield f"p is said to be {p}"
    named = it["evidence"]["named"] if it["evidence"] else None
    for count in re.findall(r"(\d+) genes? can be named", text):
        if int(count) != named:
            yield f"{count} genes can be named, and the record names {named}"
    if "No gene can be named" in text and named:
        yield f"no gene can be named, and the record names {named}"


def _cohorts(data: Any, text: str) -> Iterator[str]:
    tested = data["answer"]["cohorts"]["tested"] > 0
    if ("has not been tested in an independent cohort" in text) == tested:
        yield "the limits do not know whether other cohorts were tested"
    if ("no other cohort was tested" in text) and data["answer"]["cohorts"]["rows"]:
        yield "cohorts are shown and said to be none"


def _cited(data: Any) -> Iterator[str]:
    """Find references whose first author the Methods do not name."""
    text = " ".join(methods(data))
    for one in references(data):
        author = re.match(r"[\w' -]+? (?=[A-Z]{1,3}\b)", one)
        if author and author[0].split()[-1] not in text:
            yield f"Methods do not cite {one[:60]}"

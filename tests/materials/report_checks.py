"""Checks of a report: types of its record, claims of its page, the page in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from genesig.report.methods import methods, references
from genesig.report.page.measure import covariate_names
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, conclusion, grade, grade_within_study, headline
from genesig.report.page.words import rate
from genesig.report.sections import summary

# Whether a value of report_data.json is what its record says: every key, every type.

UNIONS = (Union, types.UnionType)


def misfits(kind: Any, value: Any, place: str = "") -> list[str]:
    """Return where a value differs from a TypedDict or another type; nothing where it does not."""
    return list(_misfits(kind, value, place))


def _misfits(kind: Any, value: Any, place: str) -> Iterator[str]:
    origin = get_origin(kind)
    member_types = get_args(kind)
    if origin is NotRequired:
        yield from _misfits(member_types[0], value, place)
    elif is_typeddict(kind):
        yield from _keys(kind, value, place)
    elif origin in UNIONS:
        if all(misfits(item, value, place) for item in member_types):
            yield f"{place}: {value!r} is no {kind}"
    elif origin in (list, dict):
        if not isinstance(value, origin):
            yield f"{place}: {value!r} is no {origin.__name__}"
            return
        items = value.items() if origin is dict else enumerate(value)
        for key, item in items:
            yield from _misfits(member_types[-1], item, f"{place}[{key!r}]")
    elif kind is not Any and not _plain(kind, value):
        yield f"{place}: {value!r} is no {kind}"


def _keys(kind: Any, value: Any, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: {value!r} is no {kind.__name__}"
        return
    hints = get_type_hints(kind, include_extras=True)
    required = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
    for key in sorted(required - value.keys() | value.keys() - hints.keys()):
        yield f"{place}[{key!r}]: {'unknown' if key in value else 'absent'}"
    for key in value.keys() & hints.keys():
        yield from _misfits(hints[key], value[key], f"{place}[{key!r}]")


def _plain(kind: Any, value: Any) -> bool:
    if kind is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if kind is type(None) else isinstance(value, kind)


# What a page claims, held against the typed record that it was written from.

POSITIVE = re.compile(r"Gene expression (distinguishes|predicts|adds to)")
SUCCESS = (
    'class="card"',
    "figure-gene_frequencies",
    'id="figure-decision_curve"',
    "mislabelling",
)


def contradictions(data: Any, page: str) -> list[str]:
    """Return the claims of a page that differ from its record or from each other."""
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    return [
        *_conclusion(data, page, text),
        *_numbers(data, text),
        *_cohorts(data, text),
        *_cited(data),
    ]


def _conclusion(data: Any, page: str, text: str) -> Iterator[str]:
    badges = re.findall(r'<span class="grade \w+">([^<]+)</span>', page)
    if [html.unescape(badge) for badge in badges] != [conclusion(data)]:
        yield f"concluded {conclusion(data)}, the page says {badges}"
    if f'<body class="{grade(data).name.lower()}">' not in page:
        yield "the colours of the figures are not those of the conclusion"
    if " ".join(headline(data).split()) not in text:
        yield "the first sentence is not that of the conclusion"
    supported = grade(data) in (Grade.HERE, Grade.ELSEWHERE, Grade.AGAINST)
    if POSITIVE.search(text) and not supported:
        yield f"{grade(data).value}, and a sentence claims {POSITIVE.findall(text)}"
    if "There is no evidence that" in text and grade(data) is not Grade.NONE:
        yield f"{grade(data).value}, and a sentence denies it"
    if grade(data) is Grade.NONE:
        yield from (
            f"no evidence, and the page has {phrase}" for phrase in SUCCESS if phrase in page
        )
    if "Better than chance? Yes" in text and grade_within_study(data) is not Grade.HERE:
        yield "the check of chance says yes, the models show nothing"


def _numbers(data: Any, text: str) -> Iterator[str]:
    """Compare what stands in several places: the accuracy, p, the number of FDR-selected genes."""
    answer = data["answer"]
    if (
        answer["error"]["value"] is not None
        and data["study"]["classes"]
        and not covariate_names(data)
    ):
        for pattern in (
            r"models built this way misclassified .{3,60}? \(balanced accuracy ([\d.]+%)",
            r"Balanced accuracy ([\d.]+%) (?:95% CI|chance)",
        ):
            values_found = set(re.findall(pattern, text))
            if values_found != {rate(1 - answer["error"]["value"])}:
                yield f"the error is {answer['error']['value']}, {pattern} finds {values_found}"
    p = set(re.findall(r"did as well \(p = ([^),;]+)\)", text))
    p |= set(re.findall(r"Better than chance\? \w+ p = ([\d.× ⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+?) \(", text))
    if len({number_text.strip() for number_text in p}) > 1:
        yield f"p is said to be {p}"
    selected = answer["evidence"]["fdr_selected"] if answer["evidence"] else None
    for count in re.findall(r"(\d+) (?:of them|genes?) pass(?:es)? a false discovery rate", text):
        if int(count) != selected:
            yield f"{count} genes pass the FDR, and the record has {selected}"
    if re.search(r"No gene passes (?:an|the) FDR", text) and selected:
        yield f"no gene passes the FDR, and the record has {selected}"


def _cohorts(data: Any, text: str) -> Iterator[str]:
    tested = data["answer"]["cohorts"]["tested"] > 0
    if ("final model has not been tested in an external cohort" in text) == tested:
        yield "the limits do not know whether external cohorts were tested"
    if ("No external cohort was given" in text) and data["answer"]["cohorts"]["rows"]:
        yield "external cohorts are shown and said to be none"


def _cited(data: Any) -> Iterator[str]:
    """Find references whose first author the Methods do not name."""
    text = " ".join(methods(data))
    for reference in references(data):
        author = re.match(r"[\w' -]+? (?=[A-Z]{1,3}\b)", reference)
        if author and author[0].split()[-1] not in text:
            yield f"Methods do not cite {reference[:60]}"


MAX_WORDS_OF_FIRST_SCREEN = 400


def words_of_first_screen(data: Any) -> int:
    """Count the words of the first screen, captions included, without letters in figures."""
    screen = summary(data, Limits(12, 15))
    texts = [
        screen.about,
        *(badge.text for badge in screen.badges),
        screen.headline,
        *map(str, screen.paragraphs),
        *(f"{tile.name} {tile.value} {tile.words}" for tile in screen.tiles),
        *(f"{figure.title} {figure.caption}" for figure in screen.items),
        *(" ".join(check) for check in screen.checks),
        *screen.warnings,
        screen.note,
    ]
    return len(" ".join(texts).split())


# A page in headless Chromium or Chrome, and what a script in a copy of it found.

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
# The policy of the page allows no script but its own.
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
PRINT_RESULT = """
  const said = document.createElement("script");
  said.type = "application/json"; said.id = "found"; said.textContent = JSON.stringify(found);
  document.body.append(said);
"""


def found_by(script: str, text: str, folder: Path, *arguments: str, width: int = 1400) -> Any:
    """Run a script, which sets the constant ``found``, in a page of this text."""
    copy = folder / "copy.html"
    run = f'<script>addEventListener("load", async () => {{{script}{PRINT_RESULT}}});</script>'
    copy.write_text(POLICY.sub("", text) + run, encoding="utf-8")
    flags = [*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900"]
    command = [
        BROWSER,
        *flags,
        *arguments,
        "--virtual-time-budget=120000",
        "--dump-dom",
        copy.as_uri(),
    ]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    result_match = re.search(r'id="found">(.*?)</script>', process.stdout, re.DOTALL)
    assert result_match is not None, process.stderr[-2000:]
    return json.loads(html.unescape(result_match[1]))

"""The page is complete, escapes hostile names and loads nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cache
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from report_records import HOSTILE, Study, arguments

from genesig.errors import GenesigError
from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import PART_TITLES, Limits, without_pictures
from genesig.report.page.tables import table_rows
from genesig.report.page.words import clean, decimal, shorten
from genesig.report.render import breakable, render
from genesig.report.sections import SECTIONS, summary

pytestmark = pytest.mark.drawn

RENDERED_STUDIES = {
    "hostile": Study(names=HOSTILE, permutations=40),
    "regression": Study(regression=True, samples=24, genes=60),
    "bare": Study(empty=True, permutations=0, subsamples=0, folds=1, repeats=1),
}
TITLE = 'A <i>study</i> & "more"'
# Where a reader may go by a click; no page of them is loaded.
LOOKED_UP = "https://www\\.(ncbi\\.nlm\\.nih\\.gov|ensembl\\.org|genecards\\.org)/"
# Gene sets and covariates are named by a study, decisions taken between classes, lists compared.
NOT_EVERYWHERE = {
    *(
        "cards",
        "sets",
        "genome",
        "enrichment",
        "published",
        "omics",
        "covariates",
        "classes",
        "studies",
        "survival",
        "decision",
        "decisions",
        "external",
        "subgroups",
        "score-effect",
        "brevity",
        "performance",  # of a number its picture is on the first screen
    ),
}
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """What a test wants to know of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text.replace("<wbr>", ""))  # a word stays one

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, text):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(text)

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@dataclass(frozen=True)
class Made:
    name: str
    data: dict
    folder: Path
    text: str
    page: Page


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    @cache
    def render_study(name: str, copy: int) -> Made:
        folder = tmp_path_factory.mktemp(f"{name}{copy}")
        data = json.loads(json.dumps(collect(StudyResults(**arguments(RENDERED_STUDIES[name])))))
        render(
            data,
            folder / "report.html",
            folder / "figures",
            title=TITLE,
            gene_cards=3,
            table_rows=10,
            processes=1 + copy,
        )
        text = (folder / "report.html").read_text(encoding="utf-8")
        return Made(name, data, folder, text, Page(text))

    return render_study


@pytest.fixture(
    params=[
        "hostile",
        pytest.param("regression", marks=pytest.mark.slow),
        pytest.param("bare", marks=pytest.mark.slow),
    ]
)
def rendering(request, rendered):
    return rendered(request.param, 0)


def test_the_markup_is_balanced_and_ids_are_unique(rendering):
    page = rendering.page
    assert page.unbalanced == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)) > 50


def test_every_reference_inside_the_page_exists(rendering):
    text = rendering.text
    page = rendering.page
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    targets = [a["href"][1:] for a in page.named("a") if a["href"].startswith("#")]
    targets += [a["xlink:href"][1:] for a in page.named("use")]
    targets += re.findall(r"url\(#([^)]+)\)", text)
    for attributes in page.named("svg") + page.named("section") + page.named("ul"):
        if "aria-labelledby" not in attributes:
            continue
        targets += attributes["aria-labelledby"].split()
    assert len(targets) > 60
    assert set(targets) <= ids


def test_nothing_is_loaded_and_no_style_or_handler_is_inline(rendering):
    text = rendering.text
    page = rendering.page
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert not any(key == "style" or key.startswith("on") for key in attributes)
        for key in ("src", "href", "xlink:href"):
            target = attributes.get(key, "#")
            assert re.match(
                r"#|data:image/png;base64,|[\w/]+\.(tsv|json|bib)$|figures/$"
                rf"|figures/\w+\.svg$|figures/(captions/)?figure1\.(pdf|html)$|{LOOKED_UP}",
                target,
            )
    assert "@import" not in text
    rows, script = page.named("script")
    assert rows == {"type": "application/json", "id": "rows"}  # data, which no browser runs
    assert (script, len(page.named("style"))) == ({}, 1)


def test_the_policy_holds_the_hashes_of_style_and_script(rendering):
    text = rendering.text
    page = rendering.page
    policy = next(m["content"] for m in page.named("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_names_stay_text(rendering):
    name = rendering.name
    text = rendering.text
    page = rendering.page
    assert "<i>study</i>" not in text
    assert page.named("i") == page.named("b") == []
    if name == "hostile":
        shown_text = " ".join(page.text)
        assert "<script>alert(1)" not in text
        assert "$\\alpha$ {{ 7*7 }} {% raw %}" in shown_text
        for gene in HOSTILE:
            assert shorten(gene, 80) in shown_text


def test_long_names_break_after_underscores_and_stay_text():
    name = "HALLMARK_<b>_PHOSPHORYLATION"
    shown_text = breakable(name)
    assert shown_text.count("_<wbr>") == 2
    assert shown_text.replace("<wbr>", "") == escape(name)
    assert breakable("1000_s_at") == "1000_s_at"  # short ids stay in one piece


def test_every_section_has_its_heading_and_the_answer_comes_first(rendering, undrawn):
    page = rendering.page
    limits = Limits(12, 500)
    first_figures = {image.name for image in summary(rendering.data, limits).items}
    sections = [write(rendering.data, limits) for write in SECTIONS.values()]
    remainders = [without_pictures(section, first_figures) for section in sections if section]
    shown_sections = [section for section in remainders if section]
    parts = {
        f"part-{part}": [s.key for s in shown_sections if s.part == part] for part in PART_TITLES
    }
    parts = {part: keys for part, keys in parts.items() if keys}
    folded = [a for a in page.named("details") if a["class"] == "fold" and a["id"][:6] != "group-"]
    places = {a["id"] for a in page.named("section") + folded}
    assert {"answer", *parts, *(key for keys in parts.values() for key in keys)} == places
    order = [a["id"] for _, a in page.elements if a.get("id") in places]
    assert order == ["answer", *(key for part, keys in parts.items() for key in (part, *keys))]
    assert set(SECTIONS) - {section.key for section in shown_sections} <= NOT_EVERYWHERE
    assert (len(page.named("h1")), len(page.named("h2"))) == (1, 1 + len(parts))


def test_headings_go_down_by_one(rendering):
    levels = [int(tag[1]) for tag, _ in rendering.page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_figures_and_tables_are_numbered_in_the_order_of_the_page(rendering):
    numbers = re.findall(r'class="number"[^>]*>(Figure|Table) (S?)(\d+)<', rendering.text)
    assert numbers[0] == ("Figure", "", "1") or rendering.name == "bare"
    for kind in ("Figure", "Table"):
        for letter in ("", "S"):
            numbers_of_kind = [int(n) for k, s, n in numbers if (k, s) == (kind, letter)]
            assert numbers_of_kind == list(range(1, len(numbers_of_kind) + 1))
            assert numbers_of_kind


def test_headings_go_down_by_one_level_at_a_time(rendering):
    levels = [int(tag[1]) for tag, _ in rendering.page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [(above, below) for above, below in pairwise(levels) if below > above + 1] == []


def test_landmarks_are_there_once(rendering):
    landmarks = ("header", "nav", "main", "footer")
    assert [tag for tag, _ in rendering.page.elements if tag in landmarks] == list(landmarks)
    assert all(a["aria-label"] for a in rendering.page.named("nav"))


def test_every_table_has_a_name_and_its_heads_a_scope(rendering):
    page = rendering.page
    unnamed = [a for a in page.named("table") if "aria-label" not in a]
    assert len(unnamed) == len(page.named("caption"))
    assert {a["scope"] for a in page.named("th")} == {"col", "row"}


def test_every_figure_says_what_it_is_and_how_to_read_it(rendering):
    page = rendering.page
    figures = page.named("svg")
    assert all(a["role"] == "img" for a in figures)
    cards = [a for a in page.named("details") if a["class"] == "card"]
    figures = [a for a in figures if "aria-label" not in a]
    assert len(page.named("svg")) == len(figures) + len(cards)
    columns = rendering.text.count('class="column"')  # the first figures, again for a telephone
    n_shown = len(figures) - columns
    assert n_shown == len(page.named("figcaption")) == len(page.named("figure"))
    files = sorted((rendering.folder / "figures").glob("*.svg"))
    further_files = set(
        re.findall(r"figures/(\w+)\.svg", rendering.text)
    )  # figure1.svg and further ones
    assert len(files) == n_shown + len(further_files)
    for path in files:
        words = rendering.folder / "figures" / "captions" / f"{path.stem}.html"
        numbered = words.read_text(encoding="utf-8").startswith("<p><strong>Figure ")
        assert numbered != (path.stem == "figure1")  # its legend is that of a paper
        root = ET.parse(path).getroot()
        kinds = [child.tag.split("}")[1] for child in root][:2]
        assert kinds == ["title", "desc"]
        assert all(child.text for child in list(root)[:2])
        assert "#ffffff" not in path.read_text(encoding="utf-8")


def test_long_tables_end_with_a_link_to_the_whole(rendering):
    data = rendering.data
    text = rendering.text
    page = rendering.page
    tables = re.findall(r'data-name="([^"]*)".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    assert len(tables) == text.count("<tbody>") - 1 > 6  # the checks are no table of the study
    assert max(body.count("<tr>") for name, body in tables if name != "patients") <= 10
    total = data["tables"]["univariate"]["total"]
    assert f"10 of {total} rows." in text
    packed = re.search(r'id="rows">([^<]*)<', text)[1]
    rows = json.loads(gzip.decompress(base64.b64decode(packed)))["tables"]
    for name, table in (("univariate", "univariate"), ("blocks", "blocks")):
        full_table = data["tables"][table]
        column_values = {
            column_record["key"]: column_record["values"] for column_record in rows.get(name, [])
        }
        for place, column in enumerate(full_table["columns"]):
            if column in column_values:
                assert column_values[column] == [row[place] for row in full_table["rows"]]
        assert ("gene" in column_values) == bool(full_table["rows"])
    assert "univariate.tsv" in {a["href"] for a in page.named("a")}


def test_the_numbers_of_the_answer_are_on_the_first_screen(rendering):
    name = rendering.name
    data = rendering.data
    text = rendering.text
    page = rendering.page
    first_screen = text[text.index('<section id="answer"') : text.index('class="part writeup"')]
    if name != "bare":
        assert f">{data['answer']['evidence']['fdr_selected']} at FDR ≤ 10%</dd>" in first_screen
        assert re.search(rf"\b{data['answer']['evidence']['model_size']}\b genes?", first_screen)
    for warning in data["warnings"]:
        assert clean(warning) in " ".join(page.text)
    if name == "bare":
        assert 'Better than chance?</th><td class="short">Not assessed' in first_screen
        assert "so chance is not ruled out" in first_screen


@pytest.mark.slow
def test_the_same_data_give_the_same_files(rendered):
    first_files, second = (
        {p.name: p.read_bytes() for p in rendered("bare", copy).folder.rglob("*.*")}
        for copy in (0, 1)
    )
    assert first_files == second
    assert len(first_files) > 5


@pytest.mark.slow
def test_regression_speaks_of_one_measure(rendered):
    """R² wherever a number stands, never 1 − R²."""
    rendering = rendered("regression", 0)
    shown_text = " ".join(rendering.page.text)
    assert "1 − R²" not in shown_text
    mu = rendering.data["mu"][0]
    rows = table_rows(rendering.data["tables"]["controls"])
    row_of_mu = next(r for r in rows if r["mu"] == pytest.approx(mu, rel=1e-6))
    flat_text = " ".join(shown_text.split())
    value, low, high = (decimal(1 - row_of_mu[key]) for key in ("error", "high", "low"))
    joined = f"{low} to {high}" if "\u2212" in low + high else f"{low}–{high}"
    assert f"R² {value} 95% CI {joined}; chance 0.00" in flat_text
    for name in ("controls", "brevity"):
        figure = (rendering.folder / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert "R²" in figure
        assert "1 − R²" not in figure


def test_a_value_of_another_version_is_refused(rendering, tmp_path):
    with pytest.raises(GenesigError, match="version 1, version 10 is needed"):
        render(
            {**rendering.data, "version": 1},
            tmp_path / "r.html",
            tmp_path,
            title="",
            gene_cards=1,
            table_rows=1,
        )
    assert list(tmp_path.iterdir()) == []


def points(svg):
    """Return the smallest letters of a figure, in points at the width of paper it is drawn for."""
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg.read_text(encoding="utf-8"))[1])
    paper = (85 if svg.parent.name == "85mm" else 178) / 25.4 * 72
    sizes = re.findall(r'font-size="([\d.]+)', svg.read_text(encoding="utf-8"))
    return min(map(float, sizes), default=9.0) * paper / width


def test_the_smallest_letters_of_a_figure_have_five_points(rendered):
    figures = sorted((rendered("hostile", 0).folder / "figures").rglob("*.svg"))
    assert (
        len({svg.name for svg in figures}) * 2 - 1 == len(figures) > 30
    )  # Figure 1, a to f, is for 178 mm alone
    small = {svg.name: size for svg in figures if (size := points(svg)) < 5}
    assert small == {}

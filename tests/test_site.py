"""The site: every page is on it, every public name, and it is built without a warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from places import ROOT

import genesig

pytestmark = pytest.mark.slow

SITE = ROOT / "docs" / "site"
API = (SITE / "api.md").read_text(encoding="utf-8")
INDEX = (SITE / "index.md").read_text(encoding="utf-8")
PAGES = {
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "benchmarks").rglob("*.md"),
        ROOT / "config/README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "config/examples/README.md",
        ROOT / "resources/README.md",
    ]
} - {"docs/README", "docs/site/index", "docs/paper/paper"}


def listed_pages():
    entries = re.findall(r"^(/?[\w./]+)$", INDEX, re.MULTILINE)
    return {
        entry.removeprefix("/") if entry[0] == "/" else f"docs/site/{entry}" for entry in entries
    }


def test_the_contents_of_the_site_are_the_pages():
    assert listed_pages() == PAGES
    folders = ("tutorials", "how_to", "reference", "explanation", "evidence")
    assert all(len([page for page in PAGES if f"docs/{name}/" in page]) >= 5 for name in folders)


def test_the_api_page_has_every_public_name():
    names = re.findall(r"^   ~genesig\.(\w+)$", API, re.MULTILINE)
    assert sorted(names) == sorted(genesig.PUBLIC)


def test_the_examples_of_the_api_page_run():
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```$", API, re.MULTILINE | re.DOTALL)
    assert len(cells) >= 8
    names_defined = {}
    for cell in cells:
        exec(cell, names_defined)
    used = set(re.findall(r"\bgenesig\.(\w+)", "".join(cells)))
    assert len(used & genesig.PUBLIC.keys()) >= 15


class Links(HTMLParser):
    """The ids of a page, and what it leads to."""

    def __init__(self, text):
        super().__init__()
        self.ids = set()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        aim = attributes.get("href") or attributes.get("src")
        if aim and not urlsplit(aim).scheme and not aim.startswith("//"):
            self.links.append(aim)


def broken(folder):
    """Return the links of the pages of a folder that lead nowhere inside it."""
    pages = {path.resolve(): Links(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor_exists = (
                not parts.fragment or aim not in pages or parts.fragment in pages[aim].ids
            )
            if not aim.exists() or not anchor_exists:
                wrong.append((path.name, link))
    return wrong


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#x"></a><a href="#me" id="me"></a>')
    (tmp_path / "b.html").write_text('<a href="c.html"></a><a href="https://example.org"></a>')
    assert sorted(broken(tmp_path)) == [("a.html", "b.html#x"), ("b.html", "c.html")]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_its_links_lead_somewhere(tmp_path):
    pytest.importorskip("furo")
    pytest.importorskip("myst_nb")
    pytest.importorskip("sphinx_copybutton")
    command = ["sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", ".", str(tmp_path)]
    process = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
    )
    assert process.returncode == 0, process.stderr
    assert broken(tmp_path) == []
    assert "<title>" in (tmp_path / "report/report.html").read_text(encoding="utf-8")
    words = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    assert '"auc":' in words
    pictures = list((tmp_path / "_images").glob("*.png"))
    assert len(pictures) >= 5

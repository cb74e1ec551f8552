"""The pages for people: links lead somewhere, commands name what exists."""

import re
import struct
import tomllib
from pathlib import Path

import pytest
from places import ROOT

from genesig.cli import COMMANDS

pytestmark = pytest.mark.slow

README = ROOT / "README.md"
PAPER = ROOT / "docs/paper/paper.md"  # a page of a journal, not of these
DOCS = sorted({*(ROOT / "docs").rglob("*.md")} - {PAPER})
MORE = sorted(page for part in ("config", "resources") for page in (ROOT / part).rglob("*.md"))
PAGES = [README, *DOCS, *MORE]
PICTURE = ROOT / "docs/pictures/first_screen.png"
TEST_LINE = "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest"
# What commands name and the reader has or makes.
READERS_OWN = re.compile(
    r"(\.venv|build/.*|mystudy\.yaml|new\.tsv|predictions\.tsv|hgnc_complete_set\.txt|data/.*|(\.test/)?results/.*|dist|genesig-\*\.whl|\.\./shared/.*)"
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

FRONT = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)  # of a page that is executed
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n)+")
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")


def each(paths):
    return pytest.mark.parametrize(
        "page", paths, ids=[p.relative_to(ROOT).as_posix() for p in paths]
    )


def prose(page: Path) -> str:
    return FENCED.sub("", FRONT.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    found = LINK.findall(INLINE.sub("", INDENTED.sub("", prose(page))))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> list[str]:
    """Return the anchor of each heading, as GitHub makes it."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", title.lower()).strip() for title in titles]
    return [word.replace(" ", "-") for word in words]


def broken(page: Path) -> list[str]:
    """Return the relative links of a page that lead nowhere."""
    wrong = []
    for target in links(page):
        name, _, anchor = target.partition("#")
        aim = (page.parent / name).resolve() if name else page
        inside = aim.is_relative_to(ROOT.resolve()) and aim.exists()
        if not inside or (anchor and (aim.suffix != ".md" or anchor not in anchors(aim))):
            wrong.append(target)
    return wrong


def commands(page: Path) -> list[str]:
    """Return the lines of a page's blocks and its inline code that run something."""
    text = page.read_text(encoding="utf-8")
    blocks = [*FENCED.finditer(text), *INDENTED.finditer(FENCED.sub("", text))]
    lines = [line.strip() for block in blocks for line in block[0].splitlines()]
    starts = re.compile(r"(?:[A-Z_]+=\d+ )?(?:python3? |\.venv/bin/|genesig |snakemake )")
    return [line for line in [*lines, *INLINE.findall(prose(page))] if starts.match(line)]


def missing(command: str) -> list[str]:
    """Return the files, programs, parts and extras of a command that do not exist."""
    words = re.sub(r"[&']", " ", command).split()
    wrong = [word for word in words if re.search(r"/|\.\w+$", word) and not known(word)]
    wrong += [e for e in re.findall(r"\.\[(\S+)\]", command) if e not in extras()]
    return wrong + [c for c in re.findall(r"\bgenesig (\w+)", command) if c not in COMMANDS]


def extras() -> dict[str, list[str]]:
    return PROJECT["optional-dependencies"]


def known(word: str) -> bool:
    if word.startswith(".venv/bin/"):
        programs = {
            "lint-imports",
            "pip",
            "pytest",
            "python",
            "snakemake",
            "sphinx-build",
            *PROJECT["scripts"],
        }
        return word.removeprefix(".venv/bin/") in programs
    return (ROOT / word).exists() or READERS_OWN.fullmatch(word) is not None


def test_pages_are_found():
    assert {p.name for p in DOCS} >= {"README.md", "methods.md", "reading.md", "running.md"}
    assert ROOT / "config/README.md" in MORE
    assert sum(len(links(page)) for page in PAGES) > 40
    assert sum(len(commands(page)) for page in PAGES) > 15


@each(PAGES)
def test_links_lead_somewhere(page):
    assert broken(page) == []


@each(PAGES)
def test_commands_name_what_exists(page):
    assert [(line, missing(line)) for line in commands(page) if missing(line)] == []


@each(PAGES)
def test_paths_in_the_text_exist(page):
    parts = r"(?:config|docs|genesig|profiles|resources|tests|workflow)/[\w./-]+"
    named = [code for code in INLINE.findall(prose(page)) if re.fullmatch(parts, code)]
    assert [code for code in named if not (ROOT / code).exists()] == []


@each(PAGES)
def test_a_page_has_one_title_and_no_heading_twice(page):
    text = INDENTED.sub("", prose(page))
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert text.startswith("# ")
    assert len(set(anchors(page))) == len(anchors(page))


def test_the_contents_list_every_page():
    listed = {(ROOT / "docs" / target).resolve() for target in links(ROOT / "docs/README.md")}
    assert {page.resolve() for page in PAGES} - {(ROOT / "docs/README.md").resolve()} <= listed


def test_the_paper_has_its_sections_sources_and_figures():
    text = PAPER.read_text(encoding="utf-8")
    sections = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "State of the field"]
    known = re.findall(r"^@article\{(\w+),", (PAPER.parent / "paper.bib").read_text(), re.MULTILINE)
    assert set(re.findall(r"(?<=[\[ ])@(\w+)", text)) == set(known)
    assert broken(PAPER) == []
    answers = (ROOT / "docs/evidence/benchmarks.md").read_text(encoding="utf-8")
    assert [n for n in re.findall(r"(?<!\d)\.\d{3}", text) if n not in answers] == []
    assert 250 < len(text.split()) < 1500


def test_readme_is_a_front_page():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert lines.count(f"    {TEST_LINE}") == 1
    assert links(README)[0] == PICTURE.relative_to(ROOT).as_posix()


def test_the_results_are_those_of_the_rules():
    rules = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "workflow/rules").glob("*.smk"))
    table = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")
    names = [
        n for row in re.findall(r"^\|([^|]+)\|", table, re.MULTILINE) for n in INLINE.findall(row)
    ]
    stems = {re.split(r"[./*]", name)[0] for name in names[1:]}
    assert {stem for stem in stems if not re.search(rf"\b{stem}\b", rules)} == set()


def test_the_picture_is_small_and_can_be_read():
    data = PICTURE.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert len(data) < 300_000
    assert width >= 1400
    assert height < width


def test_the_gallery_has_three_small_pictures_of_each_kind():
    from gallery import EXAMPLES

    folder, page = PICTURE.parent, (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    names = {f"{kind}_{how}.png" for kind in EXAMPLES for how in ("light", "dark", "small")}
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.png")}
    assert sizes.keys() == names | {PICTURE.name}
    assert max(sizes.values()) < 300_000
    assert {name for name in names if f"(pictures/{name})" not in page} == set()
    commands = re.findall(r"^    genesig run --example(?: (\w+))? --cores 2$", page, re.MULTILINE)
    assert commands == [example or "" for example in EXAMPLES.values()]


def test_what_is_wrong_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n[a](gone.md) [b](#page) [c](#gone) [d](page.md#page) [e](../) `[f](code.md)`\n\n"
        "    [g](block.md)\n\n[h](https://example.org)\n"
    )
    assert broken(page) == ["gone.md", "#gone", "../"]
    command = ".venv/bin/nothing x/gone.py '.[none]' && genesig foretell mystudy.yaml page.md"
    assert missing(command) == [".venv/bin/nothing", "x/gone.py", "none", "foretell"]

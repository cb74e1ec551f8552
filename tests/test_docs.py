"""The documentation pages: links, commands and numbers are valid."""

import re
import runpy
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
DOCUMENTED_PARTS = ("config", "resources", "benchmarks")
OTHER_PAGES = sorted(page for part in DOCUMENTED_PARTS for page in (ROOT / part).rglob("*.md"))
PAGES = [README, *DOCS, *OTHER_PAGES]
PICTURE = ROOT / "docs/pictures/first_screen.png"
TEST_LINE = "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest"
# What commands name and the reader has or makes.
READERS_OWN = re.compile(
    r"(\.venv|\.\./(?:new)?arrays|build/.*|(mystudy|config)\.yaml|new\.tsv|(?:predictions|contributions)\.tsv"
    r"|hgnc_complete_set\.txt|data/.*|(\.test/)?results/.*|dist|genesig-\*\.whl|\.\./shared/.*)"
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

FRONT = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)  # of a page that is executed
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n)+")
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")


HOW_TO = sorted((ROOT / "docs/how_to").glob("*.md"))
STEPS = ["When to use it", "Config", "What you get", "How to read it", "Limits"]
TABLE_OF_MESSAGES = ROOT / "docs/how_to/problems.md"  # no task, so without these parts
WRITTEN_BY_PROGRAMS = ("claims.md", "command_line.md", "methods.md")
PRINTED_TABLES = ("benchmarks.md", "speed.md")
"""Pages whose tables programs print. Programs also write the settings of config/README.md."""
MOST_WORDS = 31_000
MOST_WORDS_OF_A_TASK = 600


def each(paths):
    return pytest.mark.parametrize(
        "page", paths, ids=[p.relative_to(ROOT).as_posix() for p in paths]
    )


def prose(page: Path) -> str:
    return FENCED.sub("", FRONT.sub("", page.read_text(encoding="utf-8")))


def n_words(text: str) -> int:
    """Count the words of a text; signs such as the bars of a table are none."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def links(page: Path) -> list[str]:
    links_found = LINK.findall(INLINE.sub("", INDENTED.sub("", prose(page))))
    return [target for target in links_found if not re.match(r"[a-z]+:", target)]


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
        is_inside = aim.is_relative_to(ROOT.resolve()) and aim.exists()
        if not is_inside or (anchor and (aim.suffix != ".md" or anchor not in anchors(aim))):
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
    wrong = [word for word in words if re.search(r"/|\.\w+$", word) and not path_exists(word)]
    wrong += [e for e in re.findall(r"\.\[(\S+)\]", command) if e not in extras()]
    return wrong + [c for c in re.findall(r"\bgenesig (\w+)", command) if c not in COMMANDS]


def extras() -> dict[str, list[str]]:
    return PROJECT["optional-dependencies"]


def path_exists(word: str) -> bool:
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
    assert {p.name for p in DOCS} >= {"README.md", "numbers.md", "running.md", "results.md"}
    assert ROOT / "config/README.md" in OTHER_PAGES
    assert sum(len(links(page)) for page in PAGES) > 40
    assert sum(len(commands(page)) for page in PAGES) > 15


@each(PAGES)
def test_links_lead_somewhere(page):
    assert broken(page) == []


@each(PAGES)
def test_every_column_of_a_table_has_a_heading(page):
    header_rows = re.findall(r"^\|(.*)\|\n\|[-| :]+\|$", prose(page), re.MULTILINE)
    assert [row for row in header_rows if not all(cell.strip() for cell in row.split("|"))] == []


@each(PAGES)
def test_commands_in_docs_name_existing_options_and_files(page):
    assert [(line, missing(line)) for line in commands(page) if missing(line)] == []


@each(PAGES)
def test_paths_in_the_text_exist(page):
    parts = r"(?:config|docs|genesig|profiles|resources|tests|workflow)/[\w./-]+"
    quoted_paths = [code for code in INLINE.findall(prose(page)) if re.fullmatch(parts, code)]
    assert [code for code in quoted_paths if not (ROOT / code).exists()] == []


@each(PAGES)
def test_page_has_one_title_and_unique_headings(page):
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
    citation_keys = re.findall(
        r"^@article\{(\w+),", (PAPER.parent / "paper.bib").read_text(), re.MULTILINE
    )
    assert set(re.findall(r"(?<=[\[ ])@(\w+)", text)) == set(citation_keys)
    assert broken(PAPER) == []
    tables = (ROOT / "docs/evidence/benchmarks.md").read_text(encoding="utf-8")
    assert [n for n in re.findall(r"\b0\.\d{3}", text) if n not in tables] == []
    assert 250 < len(text.split()) < 1500


def test_readme_is_a_front_page():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert lines.count(f"    {TEST_LINE}") == 1
    assert links(README)[0] == PICTURE.relative_to(ROOT).as_posix()


def table(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the rows of a table, found by its heading."""
    lines = text.split(heading)[1].splitlines()[2:]
    end = next(k for k, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def test_benchmark_numbers_equal_the_evidence():
    summary, quality, full = (
        table(path.read_text(encoding="utf-8"), heading)
        for path, heading in (
            (README, "| method | error, all 15 |"),
            (ROOT / "docs/evidence/quality.md", "| method | error, all 15 |"),
            (ROOT / "docs/evidence/benchmarks.md", "| mean of balanced errors |"),
        )
    )
    assert len(summary) == 7
    assert summary == quality
    measured = [[*row[1:4], *row[5:]] for row in full]
    assert [row for row in summary if row[1:] not in measured] == []


@each([page for page in HOW_TO if page != TABLE_OF_MESSAGES])
def test_a_how_to_page_has_its_parts_in_order(page):
    headings = re.findall(r"^## (.+)$", prose(page), re.MULTILINE)
    assert headings == STEPS


@each(HOW_TO)
def test_a_how_to_page_ends_with_a_command(page):
    last_line = page.read_text(encoding="utf-8").splitlines()[-1]
    assert last_line.startswith("    ")
    assert commands(page)[-1] == last_line.strip() or last_line.strip() in commands(page)


@each(HOW_TO)
def test_a_how_to_page_is_short(page):
    assert n_words(INDENTED.sub("", prose(page))) <= MOST_WORDS_OF_A_TASK


def test_pages_written_by_hand_are_not_too_long():
    texts = {page: prose(page).split("## All settings")[0] for page in PAGES}
    for page in texts:
        if page.name in PRINTED_TABLES:
            texts[page] = re.sub(r"^\|.*$", "", texts[page], flags=re.MULTILINE)
    by_hand = [texts[page] for page in PAGES if page.name not in WRITTEN_BY_PROGRAMS]
    assert sum(map(n_words, by_hand)) <= MOST_WORDS


def test_the_command_line_page_is_current():
    written = runpy.run_path(str(ROOT / "docs/site/command_line.py"))
    assert written["EXAMPLES"].keys() == COMMANDS.keys()
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    assert page == written["page"](), "run: python docs/site/command_line.py"


def test_messages_of_the_problems_page_equal_those_of_the_package():
    rows = re.findall(r"^\| `([^`|]+)` \|", prose(TABLE_OF_MESSAGES), re.MULTILINE)
    sources = (ROOT / "genesig").rglob("*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in sources)
    assert len(rows) == 15
    assert [
        row for row in rows if row not in re.sub(r'"\s*\n?\s*(?:what \+= )?f?"', "", code)
    ] == []


def test_the_nouns_of_the_code_are_classes_of_the_modules_named_beside_them():
    contributing = (ROOT / "docs/CONTRIBUTING.md").read_text(encoding="utf-8")
    table = contributing.split("## Nouns of the code")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| .* \| `(.*?)` \|$", table, re.MULTILINE)
    assert 20 <= len(rows) <= 40
    modules = {file: (ROOT / "genesig" / file).read_text(encoding="utf-8") for _, file in rows}
    nouns = [(noun, file) for cell, file in rows for noun in INLINE.findall(cell)]
    assert [
        (noun, file)
        for noun, file in nouns
        if not re.search(rf"^class {noun}\b", modules[file], re.MULTILINE)
    ] == []


def test_the_picture_of_the_workflow_is_current():
    drawn = runpy.run_path(str(ROOT / "docs/pictures/workflow.py"))
    files = sorted((ROOT / "workflow/rules").glob("*.smk"))
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    rule_line = r"^ *(?:use rule \w+ as|rule) (\w+)(?: with)?:$"
    rules = set(re.findall(rule_line, text, re.MULTILINE)) - {"upload", "upload_folder"}
    assert rules == {rule for stage in drawn["STAGES"].values() for rule in stage}
    picture = (ROOT / "docs/pictures/workflow.svg").read_text(encoding="utf-8")
    assert picture == drawn["drawing"](), "run: python docs/pictures/workflow.py"


def test_llms_txt_lists_every_page_of_docs():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# genesig\n\n> ")
    targets = {(ROOT / target).resolve() for target in LINK.findall(text)}
    assert targets == {page.resolve() for page in PAGES} - {(ROOT / "docs/README.md").resolve()}


def test_documented_results_equal_the_outputs_of_the_rules():
    rules = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "workflow/rules").glob("*.smk"))
    page = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")
    files = page.split("\n## signature.tsv\n")[0]
    rows = re.findall(r"^\|([^|]+)\|", files, re.MULTILINE)
    stems = {re.split(r"[./*]", name)[0] for row in rows for name in INLINE.findall(row)}
    assert len(stems) > 40
    assert {stem for stem in stems if not re.search(rf"\b{stem}\b", rules)} == set()


@pytest.mark.parametrize("name", ["signature", "controls", "stability"])
def test_columns_of_a_result_are_explained(name):
    golden = ROOT / f"tests/golden/default_study/{name}.tsv"
    columns = golden.read_text(encoding="utf-8").splitlines()[0].split("\t")
    page = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {name}.tsv\n")[1].split("\n## ")[0]
    explained = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", section, re.MULTILINE)))
    assert [column for column in columns if column not in explained] == []


def test_the_picture_is_small_and_can_be_read():
    data = PICTURE.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert len(data) < 300_000
    assert width >= 1400
    assert height < width


def test_the_gallery_has_three_small_pictures_of_each_kind():
    from gallery import EXAMPLES

    folder = PICTURE.parent
    page = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    names = {f"{kind}_{how}.png" for kind in EXAMPLES for how in ("light", "dark", "small")}
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.png")}
    assert sizes.keys() == names | {PICTURE.name}
    assert max(sizes.values()) < 300_000
    assert {name for name in names if f"(pictures/{name})" not in page} == set()
    commands = re.findall(r"^    genesig run --example(?: (\w+))? --cores 2$", page, re.MULTILINE)
    assert commands == [example or "" for example in EXAMPLES.values()]


def test_broken_links_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n[a](gone.md) [b](#page) [c](#gone) [d](page.md#page) [e](../) `[f](code.md)`\n\n"
        "    [g](block.md)\n\n[h](https://example.org)\n"
    )
    assert broken(page) == ["gone.md", "#gone", "../"]
    command = ".venv/bin/nothing x/gone.py '.[none]' && genesig foretell mystudy.yaml page.md"
    assert missing(command) == [".venv/bin/nothing", "x/gone.py", "none", "foretell"]

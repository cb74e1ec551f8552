"""axe finds no violation of WCAG A and AA on the pages of all kinds of study.

Needs Chromium or Chrome, and the script of axe-core, which the package axe-playwright-python brings
(MPL-2.0; nothing of it is shipped with genesig); skipped without them.
"""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path

import pytest
from report_checks import BROWSER, found_by
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.render import render

pytestmark = pytest.mark.drawn

HOMES = {"axe_playwright_python": "axe.min.js", "axe_core_python": "axe.min.js"}
PAPER = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
LEVELS = [*PAPER, "wcag22aa"]  # the size of what one points at: not on paper
ACT = """
  document.querySelectorAll("details").forEach((one) => { one.open = OPEN; });
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values: LEVELS } });
  const found = violations.map((one) =>
    [one.id, one.nodes.length, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]);
"""
# The rules of a medium are those of the page itself: they are put in place of its name.
PRINT = (("@media print", "@media all"), ("@media screen", "@media not all"))
LOOKS = {
    "light": (1400, 1, ()),
    "dark": (1400, 0, ()),
    "phone": (400, 1, ()),
    "phone, dark": (400, 0, ()),
    "print": (1000, 1, PRINT),
}
KINDS_OF_PAGES = ("two classes", "several classes", "survival", "regression", "ten cohorts")


def axe() -> str | None:
    """Return axe-core's script, wherever a package has it."""
    for package, name in HOMES.items():
        spec = importlib.util.find_spec(package)
        for home in (spec.submodule_search_locations or []) if spec else []:
            if (script := Path(home) / name).is_file():
                return script.read_text(encoding="utf-8")
    return None


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    if axe() is None:
        pytest.skip("axe-core is not installed: pip install -e '.[axe]'")

    @cache
    def made(kind: str) -> Path:
        folder = tmp_path_factory.mktemp("axe")
        study = Study(permutations=19, nonlinear=kind == "two classes")
        cohorts = []
        if kind in ("several classes", "survival"):
            inputs = kind_arguments({"several classes": "several_classes"}.get(kind, kind))
        elif kind == "regression":
            inputs = arguments(Study(regression=True, permutations=19))
        else:
            inputs = arguments(study)
        if kind == "ten cohorts":
            cohorts = [make_about(inputs["dataset"], f"cohort {k}") for k in range(10)]
        data = json.loads(json.dumps(collect(StudyResults(**inputs, external=cohorts))))
        render(
            data,
            folder / "report.html",
            folder / "figures",
            title="A study",
            gene_cards=12,
            table_rows=15,
        )
        return folder / "report.html"

    return made


def violations(page: Path, look: str, *, opened: bool) -> list:
    width, scheme, rules = LOOKS[look]
    text = page.read_text(encoding="utf-8")
    for old, new in rules:
        text = text.replace(old, new)
    act = ACT.replace("LEVELS", json.dumps(PAPER if rules else LEVELS)).replace(
        "OPEN", json.dumps(opened)
    )
    colours = f"--blink-settings=preferredColorScheme={scheme}"
    return found_by(act, f"{text}<script>{axe()}</script>", page.parent, colours, width=width)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("kind", KINDS_OF_PAGES)
def test_axe_finds_nothing(page, kind, look):
    assert violations(page(kind), look, opened=True) == []


@pytest.mark.slow
def test_axe_finds_nothing_before_anything_is_unfolded(page):
    assert violations(page("two classes"), "light", opened=False) == []


@pytest.mark.slow
def test_axe_finds_planted_faults(page, tmp_path):
    text = page("two classes").read_text(encoding="utf-8")
    broken = tmp_path / "report.html"
    broken.write_text(text.replace("</main>", '<img src="data:,"><p><a href="#x"></a></p></main>'))
    assert {"image-alt", "link-name"} <= {
        violation[0] for violation in violations(broken, "light", opened=False)
    }

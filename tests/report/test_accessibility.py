"""The page by axe: no violation of WCAG A and AA, in any look, for each kind of study.

Needs Chromium or Chrome, and axe-core's script, which the package axe-playwright-python brings along
(MPL-2.0; nothing of it is shipped with genesig). Skipped without them.
"""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from report_external import make_about
from report_kinds import kind_arguments
from report_study import Study, arguments
from test_in_browser import BROWSER, POLICY

from genesig.report.collect import collect
from genesig.report.render import render

HOMES = {"axe_playwright_python": "axe.min.js", "axe_core_python": "axe.min.js"}
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
ACT = """<script>addEventListener("load", async () => {
  document.querySelectorAll("details").forEach((one) => { one.open = OPEN; });
  const found = await axe.run(document, { runOnly: { type: "tag", values: LEVELS } });
  const said = document.createElement("script");
  said.type = "application/json"; said.id = "found";
  said.textContent = JSON.stringify(found.violations.map((one) =>
    [one.id, one.nodes.length, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]));
  document.body.append(said);
});</script>"""
# The rules of a medium are those of the page itself: they are put in place of its name.
PRINT = (("@media print", "@media all"), ("@media screen", "@media not all"))
LOOKS = {
    "light": (1400, 1, ()),
    "dark": (1400, 0, ()),
    "phone": (400, 1, ()),
    "phone, dark": (400, 0, ()),
    "print": (1000, 1, PRINT),
}
KINDS = ("two classes", "several classes", "survival", "regression", "ten cohorts")


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
        pytest.skip("no package with axe-core is installed (axe-playwright-python has it)")

    @cache
    def made(kind: str) -> Path:
        folder = tmp_path_factory.mktemp("axe")
        study, others = Study(permutations=19, nonlinear=kind == "two classes"), []
        if kind in ("several classes", "survival"):
            given = kind_arguments({"several classes": "several_classes"}.get(kind, kind))
        elif kind == "regression":
            given = arguments(Study(regression=True, permutations=19))
        else:
            given = arguments(study)
        if kind == "ten cohorts":
            others = [make_about(given["dataset"], f"cohort {k}") for k in range(10)]
        data = json.loads(json.dumps(collect(**given, external=others)))
        render(data, folder / "report.html", folder / "figures", title="A study", top_genes=12,
               table_rows=15)  # fmt: skip
        return folder / "report.html"

    return made


def violations(page: Path, look: str, *, opened: bool) -> list:
    width, scheme, rules = LOOKS[look]
    text = POLICY.sub("", page.read_text(encoding="utf-8"))
    for old, new in rules:
        text = text.replace(old, new)
    act = ACT.replace("LEVELS", json.dumps(LEVELS)).replace("OPEN", json.dumps(opened))
    copy = page.with_name("axe.html")
    copy.write_text(f"{text}<script>{axe()}</script>{act}", encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += [f"--user-data-dir={page.with_name('profile')}", f"--window-size={width},900"]
    flags += [f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom"]
    flags += ["--virtual-time-budget=120000"]
    command = [BROWSER, *flags, copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r'id="found">(.*?)</script>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    return json.loads(html.unescape(found[1]))


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(page, kind, look):
    assert violations(page(kind), look, opened=True) == []


@pytest.mark.slow
def test_axe_finds_nothing_before_anything_is_unfolded(page):
    assert violations(page("two classes"), "light", opened=False) == []


@pytest.mark.slow
def test_axe_sees_what_is_wrong(page, tmp_path):
    text = page("two classes").read_text(encoding="utf-8")
    broken = tmp_path / "report.html"
    broken.write_text(text.replace("</main>", '<img src="data:,"><p><a href="#x"></a></p></main>'))
    assert {"image-alt", "link-name"} <= {one[0] for one in violations(broken, "light", opened=False)}

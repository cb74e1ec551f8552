"""The modules that a script needs equal those of Python's module finder."""

from __future__ import annotations

from modulefinder import ModuleFinder
from pathlib import Path

import pytest
from places import ROOT

from genesig.results.sources import _digest, sources, sources_digest

SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))


@pytest.mark.quick("fit", "modules")
@pytest.mark.parametrize(
    "scripts", [SCRIPTS, *([one] for one in SCRIPTS[::7])], ids=lambda some: some[-1].stem
)
def test_source_modules_equal_pythons_module_finder(scripts):
    finder = ModuleFinder(path=[str(ROOT)])
    for script in scripts:
        finder.run_script(str(script))
    finder_files = {Path(m.__file__) for m in finder.modules.values() if m.__file__}
    files_found = {file for script in scripts for file in sources(script, ROOT)}
    modules = {file for file in files_found if file.suffix == ".py"}
    assert modules == {file for file in finder_files if ROOT / "genesig" in file.parents}


def test_every_way_to_import_is_seen(tmp_path):
    for name in ("__init__", "a", "b", "c", "unused", "deep/__init__", "deep/d"):
        file = tmp_path / f"genesig/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "genesig/c.py").write_text("def late():\n    import genesig.deep.d as d, os\n")
    (tmp_path / "genesig/deep/page.css").write_text("")
    script = tmp_path / "script.py"
    script.write_text("from genesig import a, b as other\nfrom genesig.c import late\nimport numpy")
    files_found = [
        str(file.relative_to(tmp_path / "genesig")) for file in sources(script, tmp_path)
    ]
    assert files_found == [
        "__init__.py",
        "a.py",
        "b.py",
        "c.py",
        "deep/__init__.py",
        "deep/d.py",
        "deep/page.css",
    ]


def test_every_page_file_belongs_to_the_report():
    page_files = {
        file for suffix in ("css", "j2", "js") for file in (ROOT / "genesig").rglob(f"*.{suffix}")
    }
    assert page_files
    files_of_report = set(sources(ROOT / "workflow/scripts/report.py", ROOT))
    assert page_files - files_of_report == set()
    style_sheet = ROOT / "genesig/report/page/templates/page.css"
    assert style_sheet not in sources(ROOT / "workflow/scripts/report_data.py", ROOT)


def digest_of_package(folder):
    """Return the digest of a script beside a package of one module and one page."""
    (folder / "genesig").mkdir(parents=True)
    (folder / "genesig/__init__.py").write_text("")
    (folder / "genesig/page.css").write_text("p {}")
    (folder / "script.py").write_text("import genesig")
    return sources_digest(folder / "script.py", folder)


def test_digest_of_a_copy_elsewhere_is_the_same(tmp_path):
    assert digest_of_package(tmp_path / "first") == digest_of_package(tmp_path / "second")


def test_digest_after_an_edit_of_a_page_is_another(tmp_path):
    digest = digest_of_package(tmp_path)
    (tmp_path / "genesig/page.css").write_text("p { color: red }")
    sources.cache_clear()
    _digest.cache_clear()
    assert sources_digest(tmp_path / "script.py", tmp_path) != digest


JOBS_OF_MODULE = {
    "genesig/selection/assess/calibration.py": ["fit", "fit_final", "fit_subsamples", "model"],
    "genesig/models/baselines.py": ["fit", "fit_final", "fit_subsamples", "gather", "null"],
}


@pytest.mark.parametrize("module", JOBS_OF_MODULE)
def test_edit_of_an_assessment_module_reruns_no_fit(module):
    scripts = [ROOT / f"workflow/scripts/{job}.py" for job in JOBS_OF_MODULE[module]]
    assert [script.stem for script in scripts if ROOT / module in sources(script, ROOT)] == []

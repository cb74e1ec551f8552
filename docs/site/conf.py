"""The site: every page of the repository that people read, the tutorials executed.

sphinx-build -W --keep-going -c docs/site . build/site
"""

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import genesig  # noqa: E402 - from this folder, installed or not

project = "genesig"
author = "the authors of genesig"
release = genesig.__version__

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon",
    "sphinx.ext.viewcode", "sphinx_copybutton",
]  # fmt: skip
# Links to the pages of other packages need their inventories, so a network: asked for by name.
if "GENESIG_INTERSPHINX" in os.environ:
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "anndata": ("https://anndata.readthedocs.io/en/stable", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
# The pages lie where a reader of the repository finds them; links between them lead on both ways.
root_doc = "docs/site/index"
include_patterns = [
    "docs/**.md", "docs/site/api/*.rst", "config/README.md", "config/examples/README.md",
    "benchmarks/**.md", "resources/README.md", "CHANGELOG.md",
]  # fmt: skip
exclude_patterns = [
    "docs/README.md",
    "docs/paper",
    ".*",
    "build",
    "tests",
    "workflow",
    "results",
    "genesig",
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 900
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "text/html", 0)]

html_theme = "furo"
html_title = "genesig"
templates_path = [str(Path(__file__).parent / "templates")]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["sort.js"]
html_extra_path = ["front", "../../llms.txt"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00694d", "color-brand-content": "#005a42"},
    "dark_css_variables": {"color-brand-primary": "#5fd0ae", "color-brand-content": "#7fdcc0"},
}

REQUESTS = ", ".join(f"set_{method}_request" for method in ("fit", "score", "predict", "transform"))
autodoc_default_options = {"exclude-members": REQUESTS}  # scikit-learn's own
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_preprocess_types = True
napoleon_type_aliases = {"DataFrame": "pandas.DataFrame", "AnnData": "anndata.AnnData"}
default_role = "code"

BARS = re.compile(r"(``.*?``|`[^`]*`)|([|*])")
SECTION = re.compile(r"-{3,}$")


def as_text(app, what, name, found, options, lines):  # noqa: D103 - see the comment
    # Docstrings are written for people: a formula stands indented, and |x| is a norm.
    out: list[str] = []
    inside = formula = False
    for number, line in enumerate(lines):
        inside = inside or (number > 0 and bool(SECTION.match(line)))
        begins = line.startswith("    ") and not inside and not (out and out[-1].strip())
        if begins and not formula:
            out += ["::", ""]
        formula = (begins or formula) and (line.startswith("    ") or not line.strip())
        out.append(line if formula else BARS.sub(lambda m: m[1] or "\\" + m[2], line))
    lines[:] = out


LIVE = re.compile(r"<!-- live (\w+) -->")
GALLERY = os.environ.get("GENESIG_GALLERY")
"""Folder of the studies of docs/pictures/gallery.py, whose reports are then beside its page."""


def with_live_pages(app, name, source):  # noqa: D103 - see GALLERY
    if GALLERY:
        source[0] = LIVE.sub(r'<a href="../gallery/\1/report.html">Live page</a> ·', source[0])


def copy_live_pages(app, failed):
    """Run what has not run, and lay every report with its figures and tables beside the site."""
    if failed or not GALLERY:
        return
    sys.path.insert(0, str(ROOT / "docs" / "pictures"))
    import gallery

    for kind, example in gallery.EXAMPLES.items():
        gallery.report_of(Path(GALLERY, kind), example)
        heavy = shutil.ignore_patterns("*.npz", "*.h5ad", "times", "data")
        shutil.copytree(Path(GALLERY, kind, "results"), Path(app.outdir, "gallery", kind),
                        ignore=heavy, dirs_exist_ok=True)  # fmt: skip


def setup(app):
    """Docstrings pass here before they are read as reStructuredText."""
    app.connect("autodoc-process-docstring", as_text, priority=100)
    app.connect("source-read", with_live_pages)
    app.connect("build-finished", copy_live_pages)
    # The tutorial of two classes leaves its report there, beside the pages.
    os.environ["GENESIG_SITE"] = str(Path(app.outdir, "report"))

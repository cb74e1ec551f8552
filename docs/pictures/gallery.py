"""The pictures of docs/gallery.md: nine kinds of study, run and photographed.

    python docs/pictures/gallery.py FOLDER

FOLDER gets a folder for each study, which runs there unless its report is there already (a minute
or two of two cores each). Of each report the first two screens: 1400 pixels wide in light and in
dark colours, 400 pixels wide in both, and the first printed page. Needs what first_screen.py does.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from photograph import photograph, save
from PIL import Image, ImageOps

HERE = Path(__file__).parent
EXAMPLES = {
    "two_classes": None,  # the leukemia study
    "several_classes": "classes",
    "numbers": "numbers",
    "survival": "survival",
    "covariates": "covariates",
    "noise": "noise",
    "other_cohort": "cohort",
    "gene_sets": "sets",
    "several_studies": "studies",
}
"""Kind of study, and its name after ``genesig run --example``."""
DESK, PHONE = (1400, 1800), (400, 1600)  # CSS pixels: two screens of each
PAPER = (695, 1009)  # A4 less its margins
GAP, GROUND = 24, "#8a8f98"
COLOURS = 256
MARGIN = 70  # pixels around what is printed


def report_of(folder: Path, example: str | None) -> str:
    """Return the page of a study, which is run where it was not."""
    page = folder / "results" / "report.html"
    if not page.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "genesig.cli", "run", "--example"]
        subprocess.run([*command, *([example] if example else []), "--cores", "2"], cwd=folder,
                       check=True)  # fmt: skip
    return page.read_text(encoding="utf-8")


def printed(report: str) -> str:
    """Return the page as paper has it: what is said of print holds, and nothing of the screen."""
    report = report.replace("@media screen", "@media tty").replace("@media print", "@media all")
    return report.replace("</style>", "#answer { min-height: 100vh; }</style>", 1)


def beside(pictures: list[Image.Image]) -> Image.Image:
    """Put pictures beside each other."""
    width = sum(one.width for one in pictures) + GAP * (len(pictures) + 1)
    sheet = Image.new("RGB", (width, max(one.height for one in pictures) + 2 * GAP), GROUND)
    at = GAP
    for one in pictures:
        sheet.paste(one, (at, GAP))
        at += one.width + GAP
    return sheet


def main(work: Path) -> None:
    """Run what has not run, and photograph everything."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for kind, example in EXAMPLES.items():
            report, place = report_of(work / kind, example), Path(folder)
            for name, dark in (("light", False), ("dark", True)):
                desk, _ = photograph(report, place, *DESK, dark=dark)
                save(desk, HERE / f"{kind}_{name}.png", COLOURS)
            phones = [photograph(report, place, *PHONE, dark=dark)[0] for dark in (False, True)]
            paper, _ = photograph(printed(report), place, *PAPER, scale=1.4)
            paper = ImageOps.expand(paper, MARGIN, "white")
            save(beside([*phones, paper]), HERE / f"{kind}_small.png", COLOURS)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))

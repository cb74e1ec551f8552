"""What the tutorial of several studies gave on published data, kept beside its page.

    python docs/pictures/series.py FOLDER

Runs the cells of docs/tutorials/studies.md that need the files of FOLDER, and writes the table and
the picture of each to the page and to docs/tutorials/pictures.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd

PAGE = Path(__file__).parents[1] / "tutorials" / "studies.md"
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def kept(name: str, heading: str, known: dict) -> None:
    """Run the cells below a heading; keep their table and their picture."""
    page = PAGE.read_text(encoding="utf-8")
    part = page[page.index(f"\n## {heading}") :]
    for cell in CELL.findall(part.split("\n## ", 2)[1]):
        exec(cell, known)
    write(name, known[name])


def write(name: str, results: Any) -> None:
    """Write the picture of the last cell, and the table."""
    page = PAGE.read_text(encoding="utf-8")
    plt.gcf().set_figheight(8)  # sixty genes
    plt.gcf().savefig(PAGE.parent / "pictures" / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close("all")
    table = results.tables["studies"][["row", "study", "samples", "genes", "value", "error"]]
    cells = [list(table), ["---"] * table.shape[1], *table.round(2).astype(object).to_numpy()]
    words = [[_word(cell) for cell in row] for row in cells]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in words)
    mark = re.compile(f"(<!-- {name} -->\n).*?(<!-- / -->)", re.DOTALL)
    text = mark.sub(lambda found: f"{found[1]}{lines}\n{found[2]}", page)
    PAGE.write_text(text, encoding="utf-8")


def _word(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    return "" if pd.isna(cell) else f"{cell:g}"


if __name__ == "__main__":
    mpl.use("Agg")
    os.environ["GENESIG_SERIES"] = str(Path(sys.argv[1]).resolve())
    (PAGE.parent / "pictures").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        known: dict = {}
        exec("import pandas as pd\nfrom genesig import Study", known)
        kept("arthritis", "Two series", known)
        kept("leukemia", "Leukemia on two chips", known)

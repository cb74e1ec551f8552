"""The picture of a report's first screen, on README's front page.

    python docs/pictures/first_screen.py results/report.html docs/pictures/first_screen.png

Needs Chromium or Chrome, without a display, and Pillow, which matplotlib brings along.
"""

import re
import sys
import tempfile
from pathlib import Path

from photograph import photograph, save
from PIL import ImageDraw

WIDTH, HEIGHT = 1220, 1900  # CSS pixels: the contents at the side, and a picture wider than high
SCALE = 1.5
MARGIN = 6  # CSS pixels below the genes
FRAME = "#d5d8dd"  # the report's own rule; without it a white page hides where the picture ends
COLOURS = 64  # enough for smooth letters on flat ground, a third of the bytes
MEASURE = """<script>addEventListener("load", () => {
  const genes = document.querySelector("#answer .chips");
  document.documentElement.dataset.end = genes ? genes.getBoundingClientRect().bottom : "";
});</script>"""


def main(report: str, picture: str) -> None:
    """Photograph a report down to the end of its genes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        text = Path(report).read_text(encoding="utf-8") + MEASURE
        image, document = photograph(text, Path(folder), WIDTH, HEIGHT, scale=SCALE)
    end = re.search(r'<html[^>]* data-end="([\d.]+)"', document)
    if end is None:
        raise SystemExit("the report has no genes on its first screen")
    cropped = image.crop((0, 0, image.width, round((float(end[1]) + MARGIN) * SCALE)))
    edge = (0, 0, cropped.width - 1, cropped.height - 1)
    ImageDraw.Draw(cropped).rectangle(edge, outline=FRAME, width=2)
    save(cropped, Path(picture), COLOURS)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])

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

WIDTH, HEIGHT = 1280, 1300  # CSS pixels: of a laptop, and higher than the first screen
SCALE = 1.5
MARGIN = 10  # CSS pixels below the last box
FRAME = "#d5d8dd"  # the report's own rule; without it a white page hides where the picture ends
COLOURS = 256  # enough for smooth letters on flat ground, half of the bytes
MEASURE = """<script>addEventListener("load", () => {
  const boxes = document.querySelectorAll("#answer table.checks, #answer aside.warnings");
  const bottoms = Array.from(boxes, (box) => box.getBoundingClientRect().bottom);
  document.documentElement.dataset.end = bottoms.length ? Math.max(...bottoms) : "";
});</script>"""


def main(report: str, picture: str) -> None:
    """Photograph a report down to the last box of its first screen."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        text = Path(report).read_text(encoding="utf-8") + MEASURE
        image, document = photograph(text, Path(folder), WIDTH, HEIGHT, scale=SCALE)
    end = re.search(r'<html[^>]* data-end="([\d.]+)"', document)
    if end is None:
        raise SystemExit("the report has no first screen with a table of checks")
    cropped = image.crop((0, 0, image.width, round((float(end[1]) + MARGIN) * SCALE)))
    edge = (0, 0, cropped.width - 1, cropped.height - 1)
    ImageDraw.Draw(cropped).rectangle(edge, outline=FRAME, width=2)
    save(cropped, Path(picture), COLOURS)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])

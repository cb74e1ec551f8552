"""The picture of a report's first screen, on README's front page.

    python docs/pictures/first_screen.py results/report.html docs/pictures/first_screen.png

Needs Chromium or Chrome, without a display, and Pillow, which matplotlib brings along.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTH, HEIGHT = 1220, 1900  # CSS pixels: the contents at the side, and a picture wider than high
SCALE = 1.5
MARGIN = 6  # CSS pixels below the genes
FRAME = "#d5d8dd"  # the report's own rule; without it a white page hides where the picture ends
COLOURS = 64  # enough for smooth letters on flat ground, a third of the bytes
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
MEASURE = """<script>addEventListener("load", () => {
  const genes = document.querySelector("#answer .chips");
  document.documentElement.dataset.end = genes ? genes.getBoundingClientRect().bottom : "";
});</script>"""


def browser() -> str:
    """Return the first browser that is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit(f"none of these is installed: {', '.join(BROWSERS)}")
    return found


def photograph(report: str, folder: Path) -> tuple[Image.Image, float]:
    """Return the top of the page in light colours, and where its genes end, in CSS pixels."""
    # The report forbids scripts other than its own; this copy lives as long as the picture takes.
    page, shot = folder / "report.html", folder / "page.png"
    page.write_text(POLICY.sub("", report) + MEASURE, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--hide-scrollbars", "--blink-settings=preferredColorScheme=1"]
    flags += [f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{HEIGHT}"]
    flags += [f"--force-device-scale-factor={SCALE}", f"--screenshot={shot}", "--dump-dom"]
    command = [browser(), *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    end = re.search(r'<html[^>]* data-end="([\d.]+)"', done.stdout)
    if end is None:
        raise SystemExit("the report has no genes on its first screen")
    with Image.open(shot) as image:
        return image.convert("RGB"), float(end[1])


def main(report: str, picture: str) -> None:
    """Photograph a report down to the end of its genes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        text = Path(report).read_text(encoding="utf-8")
        image, end = photograph(text, Path(folder))
    cropped = image.crop((0, 0, image.width, round((end + MARGIN) * SCALE)))
    edge = (0, 0, cropped.width - 1, cropped.height - 1)
    ImageDraw.Draw(cropped).rectangle(edge, outline=FRAME, width=2)
    cropped.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    print(f"{picture}: {cropped.width} × {cropped.height}, {Path(picture).stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])

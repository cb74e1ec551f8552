"""A page of a report as a picture: Chromium or Chrome without a display, and Pillow."""

import re
import shutil
import subprocess
from itertools import chain
from pathlib import Path

from PIL import Image

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# The report forbids scripts other than its own, and to be framed; copies live while they are shot.
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--hide-scrollbars", "--allow-file-access-from-files")  # fmt: skip
NARROWEST = 500  # CSS pixels of a window; a telephone is a frame inside it


def browser() -> str:
    """Return the first browser that is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit(f"none of these is installed: {', '.join(BROWSERS)}")
    return found


def photograph(
    report: str, folder: Path, width: int, height: int, *, dark: bool = False, scale: float = 1
) -> tuple[Image.Image, str]:
    """Return the top of a page, width × height CSS pixels, and its document after scripts."""
    page, shot = folder / "report.html", folder / "page.png"
    page.write_text(POLICY.sub("", report), encoding="utf-8")
    if width < NARROWEST:
        frame = f'<iframe src="{page.name}" width="{width}" height="{height}" style="border:0">'
        page = folder / "frame.html"
        page.write_text(f'<body style="margin:0">{frame}</iframe></body>', encoding="utf-8")
    flags = [*FLAGS, f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    flags += [f"--user-data-dir={folder / 'profile'}", f"--force-device-scale-factor={scale}"]
    flags += [f"--window-size={max(width, NARROWEST)},{height}", f"--screenshot={shot}"]
    command = [browser(), *flags, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    with Image.open(shot) as image:
        box = (0, 0, round(width * scale), round(height * scale))
        return image.convert("RGB").crop(box), done.stdout


def save(image: Image.Image, path: Path, colours: int) -> None:
    """Write a picture in its most frequent colours, those of flat areas, and print its size."""
    frequent = sorted(image.getcolors(image.width * image.height), reverse=True)[:colours]
    palette = Image.new("P", (1, 1))
    palette.putpalette(bytes(chain.from_iterable(colour for _, colour in frequent)))
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {image.width} × {image.height}, {path.stat().st_size} bytes")

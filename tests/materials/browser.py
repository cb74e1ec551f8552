"""A page in headless Chromium or Chrome, and what a script in a copy of it found."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
# The policy of the page allows no script but its own.
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
SAY = """
  const said = document.createElement("script");
  said.type = "application/json"; said.id = "found"; said.textContent = JSON.stringify(found);
  document.body.append(said);
"""


def found_by(script: str, text: str, folder: Path, *more: str, width: int = 1400) -> Any:
    """Run a script, which ends with its value in ``found``, in a page of this text."""
    copy = folder / "copy.html"
    run = f'<script>addEventListener("load", async () => {{{script}{SAY}}});</script>'
    copy.write_text(POLICY.sub("", text) + run, encoding="utf-8")
    flags = [*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900"]
    command = [BROWSER, *flags, *more, "--virtual-time-budget=120000", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r'id="found">(.*?)</script>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    return json.loads(html.unescape(found[1]))

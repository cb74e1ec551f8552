"""What the report's page weighs and how fast it answers, in headless Chromium, beside its bounds.

    python benchmarks/speed/report_page.py [REPORT.html [PEER.html]]

Measures two pages: REPORT.html, by default that of a small simulated study, and that of 300
samples, 20,000 genes and ten cohorts. PEER.html, the page of another version for the study of
REPORT.html, is loaded in turns with it. Times are wall times, medians over fresh pages: read them
beside the load that is printed first. Needs Chromium or Chrome.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
from report_checks import BROWSER, FLAGS
from report_records import Study, arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.render import render

LARGE = Study(samples=300, genes=20_000, repeats=4, subsamples=20, nonlinear=False)
LOADS = 9
ROUNDS = 5
WIDTH = 1400
HEIGHT = 900

WATCH = """
  window.long = [];
  new PerformanceObserver((list) => list.getEntries().forEach((one) => long.push(one.duration)))
    .observe({ type: "longtask", buffered: true });
"""
LOADED = """(async () => {
  await new Promise((done) => setTimeout(done, 300));
  return {
    load: performance.getEntriesByType("navigation")[0].loadEventEnd,
    nodes: document.querySelectorAll("*").length,
    height: document.documentElement.scrollHeight,
    task: Math.max(0, ...long),
  };
})()"""
# Each act is timed from its event until its rows stand in the page and are laid out; of several
# columns the slowest. The first comes 0.3 s after the load and without a pointer on the table.
USED = """(async () => {
  const pause = () => new Promise((done) => setTimeout(done, 300));
  const found = {}, box = document.getElementById("table-univariate");
  const drawn = (on) => new Promise((done, fail) => {
    setTimeout(() => fail(new Error("nothing was drawn in 10 s")), 10000);
    new MutationObserver((_, observer) => { observer.disconnect(); done(); })
      .observe(on, { childList: true });
  });
  const time = async (what, on, act) => {
    const ready = drawn(on), start = performance.now();
    act();
    await ready;
    on.getBoundingClientRect();
    found[what] = Math.max(found[what] ?? 0, performance.now() - start);
    await pause();
  };
  const type = (input, text) => () => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
  };
  for (let at = box; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const heads = Array.from(box.querySelectorAll("th button")), body = box.querySelector("tbody");
  const cells = Array.from(body.rows[0].cells), input = box.querySelector("input");
  const [gene, other] = [0, 1].map((row) => body.rows[row].cells[0].textContent);
  const places = { text: [], number: [] };
  cells.forEach((cell, k) => places[cell.className === "n" ? "number" : "text"].push(k));
  long.length = 0;
  for (const turn of ["first", "second"]) for (const [kind, columns] of Object.entries(places)) {
    for (const k of columns) await time(`${turn} sort by ${kind}`, body, () => heads[k].click());
  }
  await time("first search", body, type(input, gene.slice(0, -1)));
  await time("second search", body, type(input, other));
  const all = document.querySelector(".everywhere input"), hits = document.querySelector(".hits");
  await time("first search everywhere", hits, type(all, gene));
  await time("second search everywhere", hits, type(all, other));
  found.task = Math.max(0, ...long);
  return found;
})()"""


class Browser:
    """Chromium by its debugging protocol: one JSON value after another, each ended by a zero."""

    def __init__(self, request_pipe: BinaryIO, hear: BinaryIO) -> None:
        self.say = request_pipe
        self.hear = hear
        self.number = 0
        self.heard: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the answer to one call."""
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters}
        self.say.write(json.dumps(call | ({"sessionId": session} if session else {})).encode())
        self.say.write(b"\0")
        self.say.flush()
        return self.until(lambda message: message.get("id") == self.number)["result"]

    def until(self, is_wanted: Any) -> dict[str, Any]:
        """Return the first message that is wanted, of those that came meanwhile or will."""
        message = next(filter(is_wanted, self.heard), None)
        while message is None:
            self.heard.append(json.loads(self.message()))
            message = self.heard[-1] if is_wanted(self.heard[-1]) else None
        if "error" in message:
            raise SystemExit(f"Chromium: {message['error']['message']}")
        return message

    def message(self) -> bytes:
        """Return the bytes of the next message."""
        content = bytearray()
        while (byte := self.hear.read(1)) != b"\0":
            if not byte:
                raise SystemExit("Chromium ended before it answered")
            content += byte
        return bytes(content)

    def opened(self, page: Path, *scripts: str) -> list[Any]:
        """Return what each script found in a fresh tab with this page."""
        self.heard.clear()
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        look = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", session, **look)
        self.ask("Page.enable", session)
        self.ask("Page.addScriptToEvaluateOnNewDocument", session, source=WATCH)
        self.ask("Page.navigate", session, url=page.resolve().as_uri())
        self.until(lambda message: message.get("method") == "Page.loadEventFired")
        values = [self.value(session, script) for script in scripts]
        self.ask("Target.closeTarget", targetId=tab)
        return values

    def value(self, session: str, script: str) -> Any:
        """Return the value of a script, once it is kept."""
        how = {"awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", session, expression=script, **how)
        if "exceptionDetails" in answer:
            raise SystemExit(f"in the page: {answer['exceptionDetails']}")
        return answer["result"]["value"]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium with a profile of its own, and end it."""
    if BROWSER is None:
        raise SystemExit("neither Chromium nor Chrome is installed")
    (child_in, request_pipe) = os.pipe()
    (hear, child_out) = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        # The protocol is read at descriptor 3 and written at 4; where it closes, Chromium ends.
        moves = [
            (os.POSIX_SPAWN_DUP2, child_in, 3),
            (os.POSIX_SPAWN_DUP2, child_out, 4),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        process = os.posix_spawn(BROWSER, [BROWSER, *flags], os.environ, file_actions=moves)
        os.close(child_in)
        os.close(child_out)
        try:
            with os.fdopen(request_pipe, "wb") as to, os.fdopen(hear, "rb") as answers:
                yield Browser(to, answers)
        finally:
            os.waitpid(process, 0)


def median_row(measurements: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: median(row[name] for row in measurements) for name in measurements[0]}


def time_loads(started: Browser, pages: Sequence[Path], count: int) -> list[dict[str, float]]:
    """Return what was found at the load of each page, the pages in turns."""
    rounds = [[started.opened(page, LOADED)[0] for page in pages] for _ in range(count + 1)]
    return [median_row(page_loads) for page_loads in zip(*rounds[1:], strict=True)]


def measure_pages(started: Browser, pages: Sequence[Path], rounds: int) -> list[dict[str, float]]:
    """Return the figures of each page; only the first is worked with."""
    load_times = time_loads(started, pages, LOADS if rounds > 1 else 1)
    used = median_row([started.opened(pages[0], LOADED, USED)[1] for _ in range(rounds)])
    load_times[0] |= used | {"task": max(load_times[0]["task"], used["task"])}
    return [
        row | {"bytes": page.stat().st_size} for row, page in zip(load_times, pages, strict=True)
    ]


ACTS = (
    "first sort by text",
    "first sort by number",
    "second sort by text",
    "second sort by number",
    "first search",
    "second search",
    "first search everywhere",
    "second search everywhere",
)
UNITS = {"bytes": "bytes", "nodes": "nodes", "height": "px"}
BOUNDS = {"height": 12_000.0, "task": 200.0, **dict.fromkeys(ACTS, 100.0)}
SMALL_BOUNDS = BOUNDS | {"bytes": 2.5e6, "nodes": 8000.0}
LARGE_BOUNDS = BOUNDS | {"bytes": 6e6}


def table(measurements: Sequence[Mapping[str, float]], bounds: Mapping[str, float]) -> str:
    """Return one line for each figure: the page's, its bound, the peer's."""
    own_times = measurements[0]
    peer = measurements[1] if len(measurements) > 1 else {}
    bounds_of_measure = {**bounds, "load": 1.5 * peer["load"]} if peer else bounds
    lines = []
    for name in ("bytes", "nodes", "height", "load", "task", *ACTS):
        bound = f"<= {bounds_of_measure[name]:,.0f}" if name in bounds_of_measure else ""
        verdict = "" if own_times[name] <= bounds_of_measure.get(name, float("inf")) else "MISSED"
        peer_text = f"{peer[name]:,.0f}" if name in peer else ""
        unit = UNITS.get(name, "ms")
        lines.append(
            f"{name:26}{own_times[name]:12,.0f} {unit:6}{bound:14}{peer_text:>12}"
            f" {verdict}".rstrip()
        )
    return "\n".join(lines)


def make_page(study: Study, cohorts: int, folder: Path) -> Path:
    """Return the page of a simulated study."""
    study_arguments = arguments(study)
    cohorts_about = [
        make_about(study_arguments["dataset"], f"cohort {k}", n=120, genes=60)
        for k in range(cohorts)
    ]
    data = json.loads(json.dumps(collect(StudyResults(**study_arguments, external=cohorts_about))))
    page = folder / "report.html"
    render(data, page, folder / "figures", title="A study", gene_cards=12, table_rows=15)
    return page


def main(paths: Sequence[Path], large: Study = LARGE, rounds: int = ROUNDS) -> None:
    """Measure the pages and print their tables."""
    print(f"load of the machine: {os.getloadavg()[0]:.2f}", flush=True)
    with tempfile.TemporaryDirectory() as name, browser() as started:
        folder = Path(name)
        pages = list(paths) or [make_page(Study(permutations=19), 0, folder / "small")]
        heads = f"{'':26}{'page':>12} {'':6}{'bound':14}{'peer' if len(pages) > 1 else '':>12}"
        print(f"{pages[0].name}\n{heads.rstrip()}")
        print(table(measure_pages(started, pages, rounds), SMALL_BOUNDS), flush=True)
        page = make_page(large, 10, folder / "large")
        print(f"\n{large.samples} samples, {large.genes:,} genes, ten cohorts")
        print(table(measure_pages(started, [page], rounds), LARGE_BOUNDS))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:3]])

"""Size and response times of the report's page in headless Chromium, with their bounds.

    python benchmarks/speed/report_page.py [REPORT.html [PEER.html]]

It measures REPORT.html (by default the page of a small simulated study) and the page of 300
samples, 20,000 genes and ten cohorts. PEER.html, a page of the study of REPORT.html by another
version, is loaded in turn with it. Times are medians of wall times over new tabs; the load of the
machine is printed first. It needs Chromium or Chrome.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
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
N_LOADS = 9  # of which medians are taken
N_ROUNDS = 5  # of acts, such as a search
WIDTH = 1400
HEIGHT = 900

WATCH = """
  window.long = [];
  new PerformanceObserver((list) => list.getEntries().forEach((task) => long.push(task.duration)))
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
# Each act is timed from its event until its rows are in the page and laid out; of several columns
# the slowest counts. The first act comes 0.3 s after the load, without a pointer on the table.
USED = """(async () => {
  const pause = () => new Promise((done) => setTimeout(done, 300));
  const times = {}, box = document.getElementById("table-univariate");
  const drawn = (on) => new Promise((done, fail) => {
    setTimeout(() => fail(new Error("nothing was drawn in 10 s")), 10000);
    new MutationObserver((_, observer) => { observer.disconnect(); done(); })
      .observe(on, { childList: true });
  });
  const time = async (name, on, act) => {
    const ready = drawn(on), start = performance.now();
    act();
    await ready;
    on.getBoundingClientRect();
    times[name] = Math.max(times[name] ?? 0, performance.now() - start);
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
  times.task = Math.max(0, ...long);
  return times;
})()"""


class Browser:
    """Chromium by its debugging protocol: JSON values, each ended by a zero byte."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self.requests = requests
        self.answers = answers
        self.n_calls = 0
        self.messages: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the result of a call of the protocol."""
        self.n_calls += 1
        call = {"id": self.n_calls, "method": method, "params": parameters}
        call |= {"sessionId": session} if session else {}
        self.requests.write(json.dumps(call).encode() + b"\0")
        self.requests.flush()
        return self.wait_for(lambda message: message.get("id") == self.n_calls)["result"]

    def wait_for(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that is wanted, of the received or of the next messages."""
        message = next(filter(is_wanted, self.messages), None)
        while message is None:
            self.messages.append(json.loads(self.read_message()))
            message = self.messages[-1] if is_wanted(self.messages[-1]) else None
        if "error" in message:
            raise SystemExit(f"Chromium: {message['error']['message']}")
        return message

    def read_message(self) -> bytes:
        """Return the bytes of the next message."""
        content = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                raise SystemExit("Chromium ended before it answered")
            content += byte
        return bytes(content)

    def evaluate_in_new_tab(self, page: Path, *scripts: str) -> list[Any]:
        """Return the value of each script in a new tab with this page."""
        self.messages.clear()
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session, **metrics)
        self.call("Page.enable", session)
        self.call("Page.addScriptToEvaluateOnNewDocument", session, source=WATCH)
        self.call("Page.navigate", session, url=page.resolve().as_uri())
        self.wait_for(lambda message: message.get("method") == "Page.loadEventFired")
        values = [self.evaluate(session, script) for script in scripts]
        self.call("Target.closeTarget", targetId=tab)
        return values

    def evaluate(self, session: str, script: str) -> Any:
        """Return the value of a script, after its promise is resolved."""
        options = {"awaitPromise": True, "returnByValue": True}
        result = self.call("Runtime.evaluate", session, expression=script, **options)
        if "exceptionDetails" in result:
            raise SystemExit(f"in the page: {result['exceptionDetails']}")
        return result["result"]["value"]


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start Chromium with a new profile; end it afterwards."""
    if BROWSER is None:
        raise SystemExit("neither Chromium nor Chrome is installed")
    child_in, request_pipe = os.pipe()
    answer_pipe, child_out = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        # Chromium reads the protocol at descriptor 3, writes it at 4, and ends if they are closed.
        file_actions = [
            (os.POSIX_SPAWN_DUP2, child_in, 3),
            (os.POSIX_SPAWN_DUP2, child_out, 4),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        process = os.posix_spawn(BROWSER, [BROWSER, *flags], os.environ, file_actions=file_actions)
        os.close(child_in)
        os.close(child_out)
        try:
            with os.fdopen(request_pipe, "wb") as requests, os.fdopen(answer_pipe, "rb") as answers:
                yield Browser(requests, answers)
        finally:
            os.waitpid(process, 0)


def median_row(measurements: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: median(row[name] for row in measurements) for name in measurements[0]}


def measure_loads(browser: Browser, pages: Sequence[Path], count: int) -> list[dict[str, float]]:
    """Return the figures of each page after its load, medians of `count` loads in turns."""
    rounds = [
        [browser.evaluate_in_new_tab(page, LOADED)[0] for page in pages] for _ in range(count + 1)
    ]
    return [median_row(page_loads) for page_loads in zip(*rounds[1:], strict=True)]


def measure_pages(browser: Browser, pages: Sequence[Path], rounds: int) -> list[dict[str, float]]:
    """Return the figures of each page; only the first page has times of acts."""
    rows = measure_loads(browser, pages, N_LOADS if rounds > 1 else 1)
    acts = median_row(
        [browser.evaluate_in_new_tab(pages[0], LOADED, USED)[1] for _ in range(rounds)]
    )
    rows[0] |= acts | {"task": max(rows[0]["task"], acts["task"])}
    return [row | {"bytes": page.stat().st_size} for row, page in zip(rows, pages, strict=True)]


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
    """Return a line for each figure: of the page, its bound, of the peer.

    measurements: of the page, then of the peer, if there is one.
    """
    figures = measurements[0]
    peer = measurements[1] if len(measurements) > 1 else {}
    if peer:
        bounds = {**bounds, "load": 1.5 * peer["load"]}
    lines = []
    for name in ("bytes", "nodes", "height", "load", "task", *ACTS):
        bound = f"<= {bounds[name]:,.0f}" if name in bounds else ""
        verdict = "" if figures[name] <= bounds.get(name, float("inf")) else "MISSED"
        peer_text = f"{peer[name]:,.0f}" if name in peer else ""
        unit = UNITS.get(name, "ms")
        line = f"{name:26}{figures[name]:12,.0f} {unit:6}{bound:14}{peer_text:>12} {verdict}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def make_page(study: Study, cohorts: int, folder: Path) -> Path:
    """Write the page of a simulated study with some external cohorts; return its path."""
    study_arguments = arguments(study)
    external = [
        make_about(study_arguments["dataset"], f"cohort {k}", n=120, genes=60)
        for k in range(cohorts)
    ]
    data = json.loads(json.dumps(collect(StudyResults(**study_arguments, external=external))))
    page = folder / "report.html"
    render(data, page, folder / "figures", title="A study", gene_cards=12, table_rows=15)
    return page


def main(paths: Sequence[Path], large: Study = LARGE, rounds: int = N_ROUNDS) -> None:
    """Measure the pages and print their tables."""
    print(f"load of the machine: {os.getloadavg()[0]:.2f}", flush=True)
    with tempfile.TemporaryDirectory() as name, start_browser() as browser:
        folder = Path(name)
        pages = list(paths) or [make_page(Study(permutations=19), 0, folder / "small")]
        heads = f"{'':26}{'page':>12} {'':6}{'bound':14}{'peer' if len(pages) > 1 else '':>12}"
        print(f"{pages[0].name}\n{heads.rstrip()}")
        print(table(measure_pages(browser, pages, rounds), SMALL_BOUNDS), flush=True)
        page = make_page(large, 10, folder / "large")
        print(f"\n{large.samples} samples, {large.genes:,} genes, ten cohorts")
        print(table(measure_pages(browser, [page], rounds), LARGE_BOUNDS))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:3]])

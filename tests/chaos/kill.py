"""Kill a study at random moments, go on with it, compare its results with those of a whole run.

python tests/chaos/kill.py [kills] [seed] [studies]

With `studies` it is a study of several studies.
Each time another study is begun, a job of it, Snakemake or the whole group of processes gets a
signal, and the study is gone on with as docs/running.md says. What is left of a killed Snakemake's
jobs may still be at work by then, as it would be for a user.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "materials"))

from several_studies import lay_out_studies
from toy_study import command, environment, make_study, results, run

WHO = ("job", "master", "group")
HOW = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
SMALLEST = {
    "splits": {"repeats": 1, "subsamples": 2},
    "linear": {"tau_count": 3, "mu": [1e-6, 1.0]},
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 2, "permutations_per_job": 1, "baselines": ["dummy"]},
}


def one_study(folder: Path) -> None:
    """Lay out a small study."""
    make_study(folder, SMALLEST)


def several_studies(folder: Path) -> None:
    """Lay out a small study of three studies, which training sets align as they choose."""
    lay_out_studies(folder, {**SMALLEST, "across": {"align": "auto"}})


def kills(
    times: int, seed: int, place: Path, make: Callable[[Path], None] = one_study
) -> Iterator[tuple[str, list[str]]]:
    """Yield what was done and the results that came out otherwise, once for each kill."""
    # Begun in the background, this would hand on that SIGINT is to be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(seed)
    victims = draw.sample(list(product(WHO, HOW)), len(WHO) * len(HOW))
    whole, folder = (place / name for name in ("whole", "killed"))
    for each in (whole, folder):
        each.mkdir()
        make(each)
    begun = time.monotonic()
    run(whole)
    duration, expected = time.monotonic() - begun, results(whole)
    for number in range(times):
        who, how = victims[number % len(victims)]
        moment = draw.uniform(0, duration)
        begun = disturbed(folder, who, how, moment, draw)
        run(folder, "--unlock")
        run(folder)
        found = results(folder)
        other = [name for name in expected.keys() | found.keys()
                 if found.get(name) != expected.get(name)]  # fmt: skip
        yield (
            f"{how.name} to {who} after {moment:.1f} s, exit code {begun.returncode}",
            sorted(other),
        )
        with suppress(ProcessLookupError):  # jobs that outlived their Snakemake
            os.killpg(begun.pid, signal.SIGKILL)
        for made in ("results", "logs", ".snakemake"):
            shutil.rmtree(folder / made)


def disturbed(folder: Path, who: str, how: signal.Signals, moment: float,
              draw: random.Random) -> subprocess.Popen[bytes]:  # fmt: skip
    """Begin a study, send the signal, and wait; exit code 0 is only for a study that is whole."""
    begun = subprocess.Popen(
        command(), cwd=folder, env=environment(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with suppress(subprocess.TimeoutExpired):
        begun.wait(moment)
    while begun.poll() is None and not _sent(begun.pid, who, how, draw):
        time.sleep(0.02)
    code, whole = begun.wait(), (folder / "results/report.html").exists()
    assert code != 0 or whole, "ended with exit code 0 before it was finished"
    return begun


def _sent(master: int, who: str, how: signal.Signals, draw: random.Random) -> bool:
    """Send the signal; to a job only where there is one."""
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        if who == "group":
            os.killpg(master, how)
        elif who == "master":
            os.kill(master, how)
        else:
            jobs = [each for each in psutil.Process(master).children(recursive=True)
                    if any("/scripts/" in word for word in each.cmdline())]  # fmt: skip
            if not jobs:
                return False
            draw.choice(jobs).send_signal(how)
    return True


def main(times: int = 50, seed: int = 0, *, make: Callable[[Path], None] = one_study) -> int:
    """Do so many kills; return 1 if a result came out otherwise."""
    wrong = 0
    with TemporaryDirectory() as place:
        for number, (done, other) in enumerate(kills(times, seed, Path(place), make), 1):
            wrong += bool(other)
            print(f"{number:3d} {done}: {', '.join(other) or 'the same results'}", flush=True)
    print(f"{times} kills, {wrong} with other results")
    return int(wrong > 0)


if __name__ == "__main__":
    make = several_studies if "studies" in sys.argv[1:] else one_study
    sys.exit(main(*(int(word) for word in sys.argv[1:] if word != "studies"), make=make))

"""The log of one job."""

from __future__ import annotations

import atexit
import gc
import logging
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from traceback import print_exception
from types import TracebackType

from genesig.errors import GenesigError
from genesig.machine import interruption, refusal

_reword: Callable[[str], str] = str


def log_to(path: str, reword: Callable[[str], str] = str) -> None:
    """Send everything that this process prints or logs to one file.

    What ends the process is said on the terminal, too; an error that is meant for the user, or
    that the machine made, as its message alone, without a traceback. The last line is what the job
    took.

    Parameters
    ----------
    path : str
    reword : function (text) -> text
        Applied to what is announced and to messages, such as to name files as the user does.
    """
    global _reword
    _reword = reword
    sys.excepthook = _say
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    stream = Path(path).open("w", buffering=1, encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stdout = sys.stderr = stream
    logging.basicConfig(stream=stream, level=logging.INFO, format="%(asctime)s %(message)s")
    atexit.register(_log_cost)
    _collect_seldom()


def _collect_seldom() -> None:
    """Most of what a job makes lives as long as it does: looking for garbage finds little.

    A tenth of the time in which code is compiled, for some 20 MB.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def announce(sentence: str) -> None:
    """Say a sentence in the log of a job and on the terminal."""
    for stream in dict.fromkeys((sys.stdout, sys.__stdout__)):
        print(_reword(sentence), file=stream, flush=True)


def _log_cost() -> None:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KiB on Linux
    seconds = sum(each.ru_utime + each.ru_stime for each in used)
    # The larger one: a child starts with the pages of its parent, which would count twice.
    peak = max(each.ru_maxrss for each in used) / unit
    logging.getLogger(__name__).info("took %.1f s of processor time, %.0f MB", seconds, peak)


def _say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    line = error if isinstance(error, GenesigError) else interruption(error) or refusal(error)
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(OSError):  # the log, too, is on the disk that is full
            if line is not None:
                print(_reword(str(line)), file=stream)
            else:
                print_exception(kind, error, trace, file=stream)

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
from genesig.machine import interruption_problem, refusal_problem

_rename_files: Callable[[str], str] = str  # set by `log_to`


def log_to(path: str, rename_files: Callable[[str], str] = str) -> None:
    """Send all output of this process to the log file `path`, and its last error to the terminal.

    An error that is meant for the user, or was made by the machine, is printed without a traceback.
    The last line has the time and the memory of the job. `rename_files` (text) -> text is applied
    to messages, to name files as the user does.
    """
    global _rename_files
    _rename_files = rename_files
    sys.excepthook = _report_error
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    stream = Path(path).open("w", buffering=1, encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stdout = sys.stderr = stream
    logging.basicConfig(stream=stream, level=logging.INFO, format="%(asctime)s %(message)s")
    atexit.register(_log_resources)
    _collect_garbage_rarely()


def _collect_garbage_rarely() -> None:
    """Collect garbage less often: most objects of a job live as long as it does.

    This saves a tenth of the time in which code is compiled, for some 20 MB. Without a last
    collection, a job ends a tenth of a second earlier.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    atexit.register(gc.freeze)  # Python collects no frozen objects when it ends


def announce(sentence: str) -> None:
    """Print a sentence in the log of a job and on the terminal; once if there is no log."""
    for stream in dict.fromkeys((sys.stdout, sys.__stdout__)):
        print(_rename_files(sentence), file=stream, flush=True)


def _log_resources() -> None:
    """Log the processor time and the peak memory of this process and its children."""
    usages = [
        resource.getrusage(process_kind)
        for process_kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    bytes_unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KiB on Linux
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    # The larger one: a child starts with the pages of its parent, which would count twice.
    peak = max(usage.ru_maxrss for usage in usages) / bytes_unit
    logging.getLogger(__name__).info("took %.1f s of processor time, %.0f MB", seconds, peak)


def _report_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error in log and terminal, with a traceback if the program is at fault."""
    message = (
        error
        if isinstance(error, GenesigError)
        else interruption_problem(error) or refusal_problem(error)
    )
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(OSError):  # the log, too, is on the disk that is full
            if message is not None:
                print(_rename_files(str(message)), file=stream)
            else:
                print_exception(kind, error, trace, file=stream)

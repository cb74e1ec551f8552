"""What this machine can hold, and what it refused, in a line for people."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from genesig.errors import InvalidInput, Problem, refuse
from genesig.words import size_of

AGAIN = "run again: what is finished is kept"
NO_PLACE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)
NO_DISK = (errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EREMOTEIO)
# What the loader of libraries says instead of an error of its own.
NO_MEMORY = re.compile("cannot allocate memory|failed to map segment|can't start new thread", re.I)
NO_FILES = re.compile("too many open files|error 24\\b", re.I)


LEAST = 450_000_000
"""Bytes of address space (ulimit -v) below which libraries do not load, or wait for ever."""


def check_writable(*folders: str) -> None:
    """Refuse folders that are there and cannot be written to, and what is none.

    Raises
    ------
    InvalidInput
    """
    for folder in folders:
        if Path(folder).is_symlink() and not Path(folder).exists():
            raise refuse(
                folder, "is a link to nowhere: make the folder that it names, or remove it"
            )
        if Path(folder).exists() and not Path(folder).is_dir():
            raise refuse(folder, "is a file, where a folder is to be: rename it, or move it away")
        if Path(folder).exists() and not os.access(folder, os.W_OK):
            what = "cannot be written to: get the right to, or work in a folder of your own"
            raise refuse(folder, what)


def check_memory() -> None:
    """Refuse to begin with less memory than the libraries take.

    Raises
    ------
    InvalidInput
    """
    if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < LEAST:
        raise InvalidInput([refused for refused in [refusal(MemoryError())] if refused])


TIMES = 12
"""Memory that reading a table takes, in sizes of its text: measured on 20000 × 100 values."""
RATIO, ROOM = 100, 1 << 23
"""Tables of measurements pack to a third, counts of many zeros to a thirtieth; a file that unpacks
to so many times its size, and to more than this, is made to fill memory."""


def check_size(where: str, size: int, packed: int, times: int = TIMES) -> None:
    """Refuse what takes more memory than there is, or unpacks to far more than a table can.

    Parameters
    ----------
    where : str
    size, packed : int
        Bytes when unpacked, and as they lie in the file.
    times : int
        Memory that reading takes, in sizes.

    Raises
    ------
    InvalidInput
    """
    most = memory() // times
    if size > most:
        what = f"holds more than {size_of(most)}; reading takes {times} times that, and this "
        what += f"process may have {size_of(memory())} of memory: take the genes and samples of the"
        raise refuse(where, f"{what} study alone, or a machine with more")
    if size > ROOM and size > RATIO * packed:
        what = f"unpacks to more than {RATIO} times its size, as no table of measurements does; it "
        raise refuse(where, f"{what}is damaged, or made to fill memory: get it from its source")


@cache
def memory() -> int:
    """Return the bytes of memory that this process may have.

    The least of the machine's, its control group's (a job of a cluster, a container) and
    ``ulimit -v``.
    """
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_of_groups()]
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([*found, *([] if soft == resource.RLIM_INFINITY else [soft])])


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let this process take half of its memory on top of what it has, and no more.

    For parsers of other people, whose objects may take a hundred times the bytes that they read: a
    file that is made for that ends in a MemoryError here, and not in the end of the process.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = taken * resource.getpagesize() + memory() // 2
    bound = most if soft == resource.RLIM_INFINITY else min(soft, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _of_groups() -> list[int]:
    """Return the limits of the control groups (version 2) that this process is in."""
    try:
        line = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()[-1]
        own = Path("/sys/fs/cgroup", line.rpartition(":")[2].strip("/"))
        files = (place / "memory.max" for place in (own, *own.parents))
        texts = [file.read_text(encoding="utf-8").strip() for file in files if file.is_file()]
    except (OSError, IndexError):  # another system
        return []
    return [int(text) for text in texts if text.isdecimal()]


def refusal(error: BaseException, path: str | Path | None = None) -> Problem | None:
    """Say what the machine refused, where, and what to do; None for any other error.

    Parameters
    ----------
    error : exception
    path : path or None
        What was being written, where the error does not name it.
    """
    number, text = _number(error), str(error)
    where = path if path is not None else getattr(error, "filename", None)
    at = "this machine" if where is None else str(where)
    if number == errno.ENOMEM:
        what = (
            f"not enough memory, of which this process may have {size_of(memory())}: give it more"
        )
        return Problem(at, f"{what}, or run fewer jobs at a time (--cores), and {AGAIN}")
    if number == errno.EMFILE:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        what = f"no file descriptor is left, of {most}: raise the limit (ulimit -n 1024)"
        return Problem(at, f"{what} and {AGAIN}")
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Problem(at, _full(number, where))
    if where is None:
        return None
    if number in NO_PLACE:
        return Problem(at[:80], f"is no name for this ({os.strerror(number)}): choose another")
    if number in (errno.EROFS, errno.EACCES, errno.EPERM):
        what = f"cannot be read or written ({os.strerror(number)}): get the right to, or work in"
        return Problem(at, f"{what} a folder of your own, and {AGAIN}")
    if number in NO_DISK:
        what = f"the disk does not answer as it should ({os.strerror(number)}): {text[:80]}"
        return Problem(at, f"{what}; mend that and {AGAIN}")
    return None


def interruption(error: BaseException) -> Problem | None:
    """Say that somebody pressed Ctrl-C; None for any error."""
    if not isinstance(error, KeyboardInterrupt):
        return None
    return Problem("this job", f"was interrupted (Ctrl-C, or the signal SIGINT): {AGAIN}")


def _number(error: BaseException) -> int | None:
    """Return the number of an error of the system, also where it stands in its text alone."""
    text = str(error)
    if isinstance(error, MemoryError) or NO_MEMORY.search(text):
        return errno.ENOMEM
    if isinstance(error, ImportError) and NO_FILES.search(text):
        return errno.EMFILE
    if found := re.search(r"errno = (\d+)", text):  # HDF5
        return int(found[1])
    if not isinstance(error, OSError):
        return None
    if error.errno is not None:
        return {errno.ENFILE: errno.EMFILE}.get(error.errno, error.errno)
    # numpy: "4000 requested and 1024 written"
    return errno.ENOSPC if "written" in text else None


def _full(number: int, path: str | Path | None) -> str:
    if number == errno.EFBIG:
        most = size_of(resource.getrlimit(resource.RLIMIT_FSIZE)[0])
        return f"files may not be larger than {most} here (ulimit -f): raise that and {AGAIN}"
    what = "the quota is used up" if number == errno.EDQUOT else "the disk is full"
    free = "" if path is None else f" ({size_of(free_bytes(Path(path)))} free)"
    return f"{what}{free}: free some and {AGAIN}"


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk that holds a file or will."""
    for place in (path, *path.absolute().parents):
        if place.exists():
            return shutil.disk_usage(place).free
    return 0

"""Memory, disk and files of this machine, and their limits as problems for users."""

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

from genesig.errors import InvalidInput, Problem, input_error
from genesig.words import size_of

RERUN_ADVICE = "run again: what is finished is kept"
# errors of a path that cannot be a file of this kind
PATH_ERRORS = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)
# errors of a disk that does not answer
DISK_ERRORS = (errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EREMOTEIO)
# messages of the loader of libraries, which raises no MemoryError
MEMORY_ERROR_TEXT = re.compile(
    "cannot allocate memory|failed to map segment|can't start new thread", re.I
)
# messages about the limit on open files
FILE_LIMIT_TEXT = re.compile("too many open files|error 24\\b", re.I)


# address space (ulimit -v) below which libraries do not load, or wait for ever
MIN_ADDRESS_BYTES = 450_000_000


def check_writable(*folders: str) -> None:
    """Raise InvalidInput for folders that cannot be written to, or are no folders."""
    for folder in folders:
        if Path(folder).is_symlink() and not Path(folder).exists():
            raise input_error(
                folder, "is a link to nowhere: make the folder that it names, or remove it"
            )
        if Path(folder).exists() and not Path(folder).is_dir():
            raise input_error(
                folder, "is a file, where a folder is to be: rename it, or move it away"
            )
        if Path(folder).exists() and not os.access(folder, os.W_OK):
            message = "cannot be written to: get the right to, or work in a folder of your own"
            raise input_error(folder, message)


def check_memory() -> None:
    """Raise InvalidInput if there is less memory than the libraries take."""
    if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < MIN_ADDRESS_BYTES:
        raise InvalidInput([memory_problem("this machine")])


# memory that reading takes, in multiples of a text's size, measured on 20,000 × 100 values
BYTES_PER_TEXT_BYTE = 12
# tables of measurements pack to a third, counts with many zeros to a thirtieth
MAX_PACKING_RATIO = 100
MAX_UNCHECKED_BYTES = 1 << 23  # unpacked size from which the packing ratio is checked


def check_size(
    location: str, size: int, packed_size: int, reading_copies: int = BYTES_PER_TEXT_BYTE
) -> None:
    """Raise InvalidInput if a file needs more memory than there is, or unpacks as no table does.

    size, packed_size: bytes when unpacked, and as they lie in the file.
    reading_copies: memory that reading takes, in multiples of `size`.
    """
    max_bytes = memory() // reading_copies
    if size > max_bytes:
        raise input_error(
            location,
            f"holds more than {size_of(max_bytes)}; reading takes {reading_copies} times that,"
            f" and this process may have {size_of(memory())} of memory: take the genes and samples "
            "of the study alone, or a machine with more",
        )
    if size > MAX_UNCHECKED_BYTES and size > MAX_PACKING_RATIO * packed_size:
        raise input_error(
            location,
            f"unpacks to more than {MAX_PACKING_RATIO} times its size, as no table of measurements"
            " does; it is damaged, or made to fill memory: get it from its source",
        )


@cache
def memory() -> int:
    """Return the bytes of memory that this process may have.

    The smallest of the machine's memory, the limit of its control group (a job of a cluster, a
    container) and ``ulimit -v``.
    """
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_control_group_limits()]
    soft_limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([*limits, *([] if soft_limit == resource.RLIM_INFINITY else [soft_limit])])


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit this process to half of its memory beyond what it has now.

    For parsers of other people, whose objects may take a hundred times the bytes of the file: a
    file that is made for that then ends in a MemoryError, and does not end the process.
    """
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    used_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    max_bytes = used_pages * resource.getpagesize() + memory() // 2
    limit = max_bytes if soft_limit == resource.RLIM_INFINITY else min(soft_limit, max_bytes)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))


def _control_group_limits() -> list[int]:
    """Return the memory limits of the control groups (version 2) of this process."""
    try:
        group_line = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()[-1]
        group_folder = Path("/sys/fs/cgroup", group_line.rpartition(":")[2].strip("/"))
        files = (folder / "memory.max" for folder in (group_folder, *group_folder.parents))
        texts = [file.read_text(encoding="utf-8").strip() for file in files if file.is_file()]
    except (OSError, IndexError):  # another system
        return []
    return [int(text) for text in texts if text.isdecimal()]


def refusal_problem(error: BaseException, path: str | Path | None = None) -> Problem | None:
    """Return what the machine refused, where, and what to do; None for any other error.

    path: the file that was being written; None is the file that the error names, if any.
    """
    error_number = _error_number(error)
    text = str(error)
    file = path if path is not None else getattr(error, "filename", None)
    location = "this machine" if file is None else str(file)
    if error_number == errno.ENOMEM:
        return memory_problem(location)
    if error_number == errno.EMFILE:
        max_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        message = f"no file descriptor is left, of {max_files}: raise the limit (ulimit -n 1024)"
        return Problem(location, f"{message} and {RERUN_ADVICE}")
    if error_number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Problem(location, _disk_full_message(error_number, file))
    if file is None:  # all other faults are those of a file
        return None
    if error_number in PATH_ERRORS:
        return Problem(  # [:80]: the name may be too long
            location[:80], f"is no name for this ({os.strerror(error_number)}): choose another"
        )
    if error_number in (errno.EROFS, errno.EACCES, errno.EPERM):
        message = f"cannot be read or written ({os.strerror(error_number)}): get the right to, or"
        return Problem(location, f"{message} work in a folder of your own, and {RERUN_ADVICE}")
    if error_number in DISK_ERRORS:
        message = f"the disk does not answer as it should ({os.strerror(error_number)}): "
        return Problem(location, f"{message}{text[:80]}; mend that and {RERUN_ADVICE}")
    return None


def memory_problem(location: str) -> Problem:
    """Return the problem that there is not enough memory."""
    return Problem(
        location,
        f"not enough memory, of which this process may have {size_of(memory())}: give it more, "
        f"or run fewer jobs at a time (--cores), and {RERUN_ADVICE}",
    )


def interruption_problem(error: BaseException) -> Problem | None:
    """Return the problem of a job that Ctrl-C ended; None for any error."""
    if not isinstance(error, KeyboardInterrupt):
        return None
    return Problem("this job", f"was interrupted (Ctrl-C, or the signal SIGINT): {RERUN_ADVICE}")


def _error_number(error: BaseException) -> int | None:
    """Return the number of a system error (`errno`), by its text if need be; None for others."""
    text = str(error)
    if isinstance(error, MemoryError) or MEMORY_ERROR_TEXT.search(text):
        return errno.ENOMEM
    if isinstance(error, ImportError) and FILE_LIMIT_TEXT.search(text):
        return errno.EMFILE
    if match := re.search(r"errno = (\d+)", text):  # HDF5
        return int(match[1])
    if not isinstance(error, OSError):
        return None
    if error.errno is not None:
        # the limits on open files of the machine and of the process
        return errno.EMFILE if error.errno == errno.ENFILE else error.errno
    # numpy: "4000 requested and 1024 written"
    return errno.ENOSPC if "written" in text else None


def _disk_full_message(number: int, path: str | Path | None) -> str:
    """Return which limit of the disk is reached, and what to do; `number` is an `errno`."""
    if number == errno.EFBIG:
        max_size = size_of(resource.getrlimit(resource.RLIMIT_FSIZE)[0])
        return (
            f"files may not be larger than {max_size} here (ulimit -f): raise that and"
            f" {RERUN_ADVICE}"
        )
    cause = "the quota is used up" if number == errno.EDQUOT else "the disk is full"
    free_text = "" if path is None else f" ({size_of(free_bytes(Path(path)))} free)"
    return f"{cause}{free_text}: free some and {RERUN_ADVICE}"


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk of a file, which may not exist yet."""
    for folder in (path, *path.absolute().parents):
        if folder.exists():
            return shutil.disk_usage(folder).free
    return 0

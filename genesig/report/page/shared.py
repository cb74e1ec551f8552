"""Pieces of work done by several forked processes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")


def share_work(work: Callable[[int], T], count: int, processes: int) -> list[T]:
    """Return work(0), ..., work(count - 1), each done by the next free process.

    Processes are forked where that is safe, so libraries and data need not be loaded again. They
    read the numbers of pieces from a pipe, so they end if the first process is killed. A piece
    without a result is done again by the first process, which raises its error.

    work: takes the number of a piece; its result must be picklable.
    count: pieces, fewer than 256: each number is a byte of the pipe.
    """
    if processes == 1 or sys.platform in ("win32", "darwin"):
        return [work(piece) for piece in range(count)]
    queue = _fill_queue(count)
    workers = [_start_worker(work, queue) for _ in range(processes - 1)]  # this process works, too
    results = _work_off(work, queue)
    for result, process in workers:
        with suppress(EOFError):
            results |= result.recv()
        process.join()
    os.close(queue)
    return [results[piece] if piece in results else work(piece) for piece in range(count)]


def _fill_queue(count: int) -> int:
    """Return the reading end of a pipe that holds the numbers of all pieces."""
    queue, queue_end = os.pipe()
    os.write(queue_end, bytes(range(count)))
    os.close(queue_end)
    return queue


def _work_off(work: Callable[[int], T], queue: int) -> dict[int, T]:
    """Return the results, by number, of the pieces that this process takes from the queue."""
    results = {}
    while number := os.read(queue, 1):
        results[number[0]] = work(number[0])
    return results


def _start_worker(work: Callable[[int], T], queue: int) -> tuple[Any, Any]:
    """Start a process that works off the queue; return the pipe of its results, and the process."""
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_send_results, args=(sender, work, queue), daemon=True)
    with warnings.catch_warnings():
        # It warns of the threads of the linear algebra library, which is made to be forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    return receiver, process


def _send_results(sender: Any, work: Callable[[int], T], queue: int) -> None:
    """Work off the queue and send the results; nothing is sent if a piece fails."""
    with suppress(Exception):
        sender.send(_work_off(work, queue))

"""Division of work among forked processes."""

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
    """Return work(0), ..., work(count - 1), each done by the process that is free first.

    Processes are forked where that is safe, so libraries and data need not be loaded again. They
    read numbers of pieces from a pipe: if the first process is killed, the others end. A piece
    whose result is missing is done here, where its error is raised.

    Parameters
    ----------
    work : callable
        Takes the number of a piece. Its result is pickled through a pipe of these processes alone.
    count, processes : int
        Fewer pieces than 256.
    """
    if processes == 1 or sys.platform in ("win32", "darwin"):
        return [work(piece) for piece in range(count)]
    queue = _fill_queue(count)
    workers = [_start_worker(work, queue) for _ in range(1, processes)]
    results = _work_off(work, queue)
    for result, process in workers:
        with suppress(EOFError):
            results |= result.recv()
        process.join()
    os.close(queue)
    return [results[piece] if piece in results else work(piece) for piece in range(count)]


def _fill_queue(count: int) -> int:
    """Return a pipe that holds the numbers, for whoever reads the next one."""
    queue, queue_end = os.pipe()
    os.write(queue_end, bytes(range(count)))
    os.close(queue_end)
    return queue


def _work_off(work: Callable[[int], T], queue: int) -> dict[int, T]:
    """Do pieces until none is left."""
    results = {}
    while number := os.read(queue, 1):
        results[number[0]] = work(number[0])
    return results


def _start_worker(work: Callable[[int], T], queue: int) -> tuple[Any, Any]:
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_send_results, args=(sender, work, queue), daemon=True)
    with warnings.catch_warnings():
        # The threads that it warns of are those of linear algebra, which expects to be forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    return receiver, process


def _send_results(sender: Any, work: Callable[[int], T], queue: int) -> None:
    with suppress(Exception):
        sender.send(_work_off(work, queue))

"""Pieces of work that several processes share, each of which has what the first one had."""

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

    A process goes on as two (fork), where that is safe, so libraries and data are there at once.
    None waits for another one's orders: if this one is killed, the others come to an end. What one
    of them does not bring is done here, and so is told what ended it.

    Parameters
    ----------
    work : callable
        Takes the number of a piece. What it returns goes through a pipe that only these processes,
        which are one program, hold: no file, nothing of a stranger's.
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

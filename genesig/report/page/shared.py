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


def shared(work: Callable[[int], T], count: int, processes: int) -> list[T]:
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
    todo = _numbers(count)
    others = [_started(work, todo) for _ in range(1, processes)]
    done = _taken(work, todo)
    for result, process in others:
        with suppress(EOFError):
            done |= result.recv()
        process.join()
    os.close(todo)
    return [done[piece] if piece in done else work(piece) for piece in range(count)]


def _numbers(count: int) -> int:
    """Return a pipe that holds the numbers, for whoever reads the next one."""
    todo, into = os.pipe()
    os.write(into, bytes(range(count)))
    os.close(into)
    return todo


def _taken(work: Callable[[int], T], todo: int) -> dict[int, T]:
    """Do pieces until none is left."""
    done = {}
    while number := os.read(todo, 1):
        done[number[0]] = work(number[0])
    return done


def _started(work: Callable[[int], T], todo: int) -> tuple[Any, Any]:
    fork = get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_send, args=(there, work, todo), daemon=True)
    with warnings.catch_warnings():
        # The threads that it warns of are those of linear algebra, which expects to be forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return here, process


def _send(there: Any, work: Callable[[int], T], todo: int) -> None:
    with suppress(Exception):
        there.send(_taken(work, todo))

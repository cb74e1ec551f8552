"""Work shared among processes gives the same pieces as one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from genesig.report.render import share_work


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_pieces_come_in_their_order_from_all_processes(processes):
    def work(piece):
        time.sleep(0.02)
        return piece, os.getpid()

    pieces = share_work(work, 12, processes)
    assert [piece for piece, _ in pieces] == list(range(12))
    assert len({process for _, process in pieces}) == processes


def test_pieces_of_a_killed_process_are_computed_in_the_main_process():
    main_process = os.getpid()

    def work(piece):
        if os.getpid() != main_process:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)
        return piece

    assert share_work(work, 12, 3) == list(range(12))


def test_error_of_a_worker_process_is_raised(capfd):
    main_process = os.getpid()

    def work(piece):
        time.sleep(0.02)
        if os.getpid() != main_process or piece == 11:
            raise ValueError("a piece")
        return piece

    with pytest.raises(ValueError, match="a piece"):
        share_work(work, 12, 2)
    assert capfd.readouterr().err == ""


def test_others_end_when_the_first_is_killed():
    code = """
import os, signal, time
from genesig.report.render import share_work
first = os.getpid()
def work(piece):
    if os.getpid() == first:
        time.sleep(0.1)
        os.kill(first, signal.SIGKILL)
    print(os.getpid(), flush=True)
    time.sleep(0.2)
share_work(work, 4, 2)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert run.returncode == -signal.SIGKILL
    # The run has ended although the other process held its output open, too: so did that.
    assert len(set(run.stdout.split())) == 1

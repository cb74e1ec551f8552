"""The same bytes from code just compiled and from the cache, in any order of loading."""

import numpy as np
import pytest
from compiled_solver import run

from genesig.compiled import (
    active_set,
    column,
    coordinate,
    dense,
    descent,
    dual,
    moments,
    products,
    ridge,
    sweep,
    tiles,
    walk,
)


@pytest.mark.slow
def test_bytes_do_not_depend_on_what_was_compiled_or_loaded_before(tmp_path):
    compiled = run(tmp_path, "in turn")
    assert len(np.frombuffer(compiled)) > 1000
    assert run(tmp_path, "in turn") == compiled
    assert run(tmp_path, "refit first") == compiled


def test_no_order_of_summation_is_left_to_the_optimiser():
    modules = (active_set, column, coordinate, dense, descent, dual, moments, products,
               ridge, sweep, tiles, walk)  # fmt: skip
    kernels = [k for m in modules for k in vars(m).values() if hasattr(k, "targetoptions")]
    assert len(kernels) > 40
    assert not [k for k in kernels if k.targetoptions.get("fastmath")]

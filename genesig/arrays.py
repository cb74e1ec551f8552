"""The type of an array of any shape and kind of number."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

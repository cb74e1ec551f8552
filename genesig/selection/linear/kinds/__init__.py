"""How each kind of response is fitted, cut and validated."""

"""A study from a notebook or a program: it is run, its results are read and drawn."""

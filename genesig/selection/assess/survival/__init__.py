"""How well the time to an event is predicted: curves, order, errors and calibration."""

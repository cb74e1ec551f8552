"""How well survival is predicted: order, risk by a horizon, curves of two groups."""

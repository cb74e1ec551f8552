"""How well survival is foretold: order, risk by a horizon, curves of two groups."""

"""How good the samples are; nothing of it goes back into a fit."""

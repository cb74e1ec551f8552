"""How good the samples are."""

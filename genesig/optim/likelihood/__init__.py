"""Penalised likelihoods: proximal Newton steps on working sets, whatever the loss."""

"""Survival of held-out samples: what the models foretell, and what came."""

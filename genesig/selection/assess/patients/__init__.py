"""Patients of a study: their description, the effect of the score, the size of a next study."""

"""Data sets from outside the study, translated to its names: external cohorts and new samples."""

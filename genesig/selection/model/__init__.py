"""The final model as JSON, and its scores of new samples and external cohorts."""

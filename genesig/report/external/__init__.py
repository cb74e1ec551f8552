"""The final model on samples of other studies."""

"""What leaves the study: the final model, and what it says of other samples."""

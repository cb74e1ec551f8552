"""What the study holds fixed, and what expression adds to it."""

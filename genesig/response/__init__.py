"""What a study predicts: one file for each kind of response."""

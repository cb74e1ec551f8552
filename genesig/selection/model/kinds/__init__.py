"""What the final model holds for each kind of response, and what it says of new samples."""

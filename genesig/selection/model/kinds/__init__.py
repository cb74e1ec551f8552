"""What model.json holds for each kind of response, and what it says of new samples."""

"""Who was studied, what the score says of them, in whom it errs, how many a validation needs."""

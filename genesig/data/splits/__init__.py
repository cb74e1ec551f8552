"""Which samples train and which test."""

"""What went in, how it was divided, and its batches."""

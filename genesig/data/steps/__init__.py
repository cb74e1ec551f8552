"""What may be done to values: row-wise steps, and those that learn on training samples."""

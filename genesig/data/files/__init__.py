"""What a file holds."""

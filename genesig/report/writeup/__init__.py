"""What is copied into a paper: results, limits, a reporting checklist."""

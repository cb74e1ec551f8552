"""What nonlinear selection finds, and whether it adds anything."""

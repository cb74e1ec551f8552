"""What the sample table and the settings must be for each kind of response."""

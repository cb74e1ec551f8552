"""What is measured of each kind of response: errors, weights, intervals, decisions."""

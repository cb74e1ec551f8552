"""From training sets to fits: the two-stage protocol inside the double loop."""

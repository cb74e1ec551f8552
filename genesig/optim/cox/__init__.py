"""The l1-l2 problem with Cox's partial likelihood in place of the squared error."""

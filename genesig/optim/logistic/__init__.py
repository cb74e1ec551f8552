"""The l1-l2 problem with the logistic loss in place of the squared error."""

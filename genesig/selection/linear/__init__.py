"""From training sets to fits: the two-stage linear protocol in nested cross-validation.

To follow the protocol, read `training_sets` (training sets and settings), `nested_cross_validation`
(the loop over them), `grid` (stage I: choose by the inner folds) and `elastic_nets` (solvers, and
stage II: nested lists). `half_samples` selects genes in half-samples; `answers` fits the
FDR-selected genes and the predictive model. `kinds` has what depends on the kind of outcome.
"""

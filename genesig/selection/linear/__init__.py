"""From training sets to fits: the two-stage linear protocol in nested cross-validation.

To follow the protocol, read `tasks` (training sets and settings), `double_loop` (the loop over
them), `grid` (stage I: choose by the inner folds) and `path` (stage II: nested lists). `halves`
selects genes in half-samples; `answers` fits the FDR-selected genes and the predictive model.
"""

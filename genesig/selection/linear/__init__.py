"""From training sets to fits: the two-stage linear protocol in nested cross-validation.

Each training set centres the genes, and scales them if the config asks for it, by its own rows: Z.

Stage I, on the rows that train each inner fold, along falling tau: min (1/n)||y - Zb||² + mu ||b||²
+ tau ||b||_1 selects genes S; ridge, min (1/n)||y - Z_S b||² + lambda ||b||², refits them. The mean
validation error of the folds chooses tau, lambda and mu. Stage II, on the whole training set, at
this tau and lambda: the same two steps for each mu of the config. The lists score the test samples.

To follow the protocol, read `training_sets` (training sets and settings), `nested_cross_validation`
(the loop over them), `grid` (stage I) and `elastic_nets` (solvers, and stage II). `kinds` has what
depends on the kind of outcome. `half_samples` selects genes in half-samples; `answers` fits the
FDR-selected genes and the predictive model.

Source: Mosci 2009, sections 4.2 to 4.4.
"""

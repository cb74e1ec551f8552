"""From training sets to fits: the two-stage linear protocol in nested cross-validation.

Each training set centres the genes, and scales them if the config asks for it, by its own rows: Z.

Stage I, on the rows that train each inner fold, along falling tau: min (1/n)||y - Zb||² + mu ||b||²
+ tau ||b||_1 selects genes S; ridge, min (1/n)||y - Z_S b||² + lambda ||b||², refits them. The mean
validation error of the folds chooses tau, lambda and mu. Stage II, on the whole training set, at
this tau and lambda: the same two steps for each mu of the config. The lists score the test samples.

A study goes one way: prepared study -> training sets -> normalised matrices (`training_sets`) ->
stage I, the inner grid and its choice (`grid`) -> stage II, the models (`elastic_nets`) -> held-out
scores (`nested_cross_validation`, which has the loop). `kinds` has what depends on the kind of
outcome, `omics` the choice of penalty factors. `half_samples` selects genes in half-samples;
`answers` fits the FDR-selected genes and the predictive model.

Source: Mosci 2009, sections 4.2 to 4.4.
"""

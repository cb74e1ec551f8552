# Rscript by_glmnet.R FOLDER N N_TEST D FAMILY ALPHA: cv.glmnet with the folds it is given.
#
# FOLDER holds z.bin (N x D, by columns), test.bin (N_TEST x D), y.bin (two columns of survival:
# time, event), weights.bin and fold.bin. It gets score.bin, a column a class of several, and
# genes.bin, the columns with a weight. The penalty is glmnet's own, of the least error by folds.

suppressPackageStartupMessages(library(glmnet))

given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
d <- as.integer(given[4])
family <- given[5]
numbers <- function(name, rows) {
  path <- file.path(given[1], name)
  matrix(readBin(path, "double", file.size(path) / 8), rows)
}

y <- numbers("y.bin", n)
y <- switch(family, cox = survival::Surv(y[, 1], y[, 2]), gaussian = y[, 1], factor(y[, 1]))
more <- if (family == "multinomial") list(type.multinomial = "grouped") else list()
asked <- list(
  x = numbers("z.bin", n), y = y, family = family, alpha = as.numeric(given[6]),
  weights = numbers("weights.bin", n)[, 1], foldid = numbers("fold.bin", n)[, 1],
  standardize = FALSE
)
fit <- do.call(cv.glmnet, c(asked, more))
score <- predict(fit, numbers("test.bin", as.integer(given[3])), s = "lambda.min")
weights <- coef(fit, s = "lambda.min")
if (family != "multinomial") weights <- list(weights)
chosen <- Reduce(`|`, lapply(weights, function(b) tail(as.vector(b), d) != 0))
writeBin(as.vector(as.numeric(score)), file.path(given[1], "score.bin"))
writeBin(as.numeric(which(chosen) - 1), file.path(given[1], "genes.bin"))

# Rscript by_glmnet.R FOLDER N N_TEST D FAMILY ALPHA: run cv.glmnet with the folds of fold.bin.
#
# FOLDER has z.bin (N x D, by columns), test.bin (N_TEST x D), y.bin (of survival two columns: time,
# event), weights.bin and fold.bin. It gets score.bin (of several classes a column each) and
# genes.bin, the selected columns, counted from 0. glmnet chooses the penalty of the smallest error.

suppressPackageStartupMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2])
d <- as.integer(arguments[4])
family <- arguments[5]
read_matrix <- function(name, rows) {
  path <- file.path(arguments[1], name)
  matrix(readBin(path, "double", file.size(path) / 8), rows)
}

y <- read_matrix("y.bin", n)
y <- switch(family, cox = survival::Surv(y[, 1], y[, 2]), gaussian = y[, 1], factor(y[, 1]))
settings <- list(
  x = read_matrix("z.bin", n), y = y, family = family, alpha = as.numeric(arguments[6]),
  weights = read_matrix("weights.bin", n)[, 1], foldid = read_matrix("fold.bin", n)[, 1],
  standardize = FALSE
)
if (family == "multinomial") settings$type.multinomial <- "grouped"
fit <- do.call(cv.glmnet, settings)
score <- predict(fit, read_matrix("test.bin", as.integer(arguments[3])), s = "lambda.min")
weights <- coef(fit, s = "lambda.min")
if (family != "multinomial") weights <- list(weights)
selected <- Reduce(`|`, lapply(weights, function(b) tail(as.vector(b), d) != 0))
writeBin(as.vector(as.numeric(score)), file.path(arguments[1], "score.bin"))
writeBin(as.numeric(which(selected) - 1), file.path(arguments[1], "genes.bin"))

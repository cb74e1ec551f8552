# Score samples with a model.json of genesig: Rscript score.R model.json new.tsv
# Needs the package jsonlite. docs/reference/model.md lists what is not supported.
library(jsonlite)
files <- commandArgs(TRUE)
model <- fromJSON(files[1], simplifyDataFrame = FALSE)
stopifnot(model$format == "genesig linear model", "covariates, or another version" = model$version == 6)
stopifnot("more than two classes" = is.null(model$classes) || is.list(model$classes))
X <- as.matrix(read.delim(files[2], row.names = 1, check.names = FALSE, quote = ""))
chosen <- Filter(function(one) one$list == model$answer, model$models)[[1]]
steps <- model$normalisation$steps
X <- X[unlist(if (length(steps)) model$normalisation$genes else chosen$genes), , drop = FALSE]
stopifnot(is.numeric(X), is.finite(X))
each <- function(f) { X[] <- apply(X, 2, f); X }
for (step in steps) X <- switch(step$step,
  log2 = each(function(x) log2(pmin(pmax(x, step$floor), step$ceiling))),
  log_cpm = each(function(x) log2(1e6 * x / sum(x) + step$prior)),
  standardise_samples = each(function(x) (x - mean(x)) / sqrt(mean((x - mean(x))^2))),
  rank_samples = each(function(x) (rank(x) - 0.5) / length(x)),
  quantile = each(function(x) (step$target[floor(rank(x))] + step$target[ceiling(rank(x))]) / 2),
  detection_filter = , variance_filter = , fold_filter = , range_filter = X[step$genes + 1, , drop = FALSE],
  stop("unknown step ", step$step))
score <- chosen$intercept + colSums(X[unlist(chosen$genes), , drop = FALSE] * unlist(chosen$coefficients))
stopifnot(is.finite(score))
class <- if (is.null(model$classes)) score else
  unlist(model$classes)[ifelse(score > c(chosen$decision$threshold, model$threshold)[1], "positive", "negative")]
write.table(data.frame(sample = colnames(X), score, predicted = class), sep = "\t",
            quote = FALSE, row.names = FALSE)

# Rscript cox_by_glmnet.R FOLDER N D: Cox paths of one matrix by glmnet at three thresholds.
#
# FOLDER has x.bin (N x D, by columns), y.tsv (time, event) and lambda.tsv. It prints a line for each
# threshold, with processor seconds, and writes the coefficients to THRESHOLD.tsv.

suppressMessages({library(glmnet); library(survival)})
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2])
d <- as.integer(arguments[3])
in_folder <- function(name) file.path(arguments[1], name)
x <- matrix(readBin(in_folder("x.bin"), "double", n * d), n, d)
y <- read.table(in_folder("y.tsv"))
lambda <- scan(in_folder("lambda.tsv"), quiet = TRUE)
for (thresh in c("1e-07", "1e-10", "1e-12")) {
  seconds <- system.time(fit <- glmnet(
    x, Surv(y[, 1], y[, 2]), family = "cox", alpha = 0.9, lambda = lambda, standardize = FALSE,
    thresh = as.numeric(thresh), maxit = 1e7
  ))
  cat(thresh, seconds[1] + seconds[2], "\n")
  file <- in_folder(paste0(thresh, ".tsv"))
  write.table(as.matrix(fit$beta), file, row.names = FALSE, col.names = FALSE)
}

# Cox paths of one matrix by glmnet: Rscript cox_by_glmnet.R folder n d
# Reads x.bin (n x d, column after column), y.tsv (time, event) and lambda.tsv there; prints a threshold
# and processor seconds a line, and writes the coefficients of each to THRESHOLD.tsv.
suppressMessages({library(glmnet); library(survival)})
asked <- commandArgs(TRUE)
n <- as.integer(asked[2]); d <- as.integer(asked[3])
from <- function(name) file.path(asked[1], name)
x <- matrix(readBin(from("x.bin"), "double", n * d), n, d)
y <- read.table(from("y.tsv")); lambda <- scan(from("lambda.tsv"), quiet = TRUE)
for (thresh in c("1e-07", "1e-10", "1e-12")) {
  took <- system.time(fit <- glmnet(
    x, Surv(y[, 1], y[, 2]), family = "cox", alpha = 0.9, lambda = lambda, standardize = FALSE,
    thresh = as.numeric(thresh), maxit = 1e7
  ))
  cat(thresh, took[1] + took[2], "\n")
  write.table(as.matrix(fit$beta), from(paste0(thresh, ".tsv")), row.names = FALSE, col.names = FALSE)
}

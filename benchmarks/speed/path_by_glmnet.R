# Rscript path_by_glmnet.R FOLDER N D THRESH: the warm path of glmnet for z.bin (N x D, by columns),
# y.bin and lambda.bin with alpha.bin in FOLDER; writes the last coefficients to b.bin and prints
# processor seconds of the path alone.

suppressPackageStartupMessages(library(glmnet))

given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
d <- as.integer(given[3])
numbers <- function(name, count) readBin(file.path(given[1], name), "double", count)

z <- matrix(numbers("z.bin", n * d), n, d)
y <- numbers("y.bin", n)
lambda <- numbers("lambda.bin", 10000)
alpha <- numbers("alpha.bin", 1)
took <- system.time(
  fit <- glmnet(z, y, alpha = alpha, lambda = lambda, standardize = FALSE, intercept = FALSE,
                thresh = as.numeric(given[4]), maxit = 1e8)
)
writeBin(as.vector(as.matrix(fit$beta)[, length(fit$lambda)]), file.path(given[1], "b.bin"))
cat(sum(took[c("user.self", "sys.self")]), "\n")

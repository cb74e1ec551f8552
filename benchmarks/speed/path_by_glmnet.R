# Rscript path_by_glmnet.R FOLDER N D THRESH: the warm path of glmnet for z.bin (N x D, by columns),
# y.bin and lambda.bin with alpha.bin in FOLDER; writes the last coefficients to b.bin and prints
# processor seconds of the path alone.

suppressPackageStartupMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2])
d <- as.integer(arguments[3])
read_numbers <- function(name, count) readBin(file.path(arguments[1], name), "double", count)

z <- matrix(read_numbers("z.bin", n * d), n, d)
y <- read_numbers("y.bin", n)
lambda <- read_numbers("lambda.bin", 10000)  # all values, at most 10000
alpha <- read_numbers("alpha.bin", 1)
seconds <- system.time(
  fit <- glmnet(z, y, alpha = alpha, lambda = lambda, standardize = FALSE, intercept = FALSE,
                thresh = as.numeric(arguments[4]), maxit = 1e8)
)
writeBin(as.vector(as.matrix(fit$beta)[, length(fit$lambda)]), file.path(arguments[1], "b.bin"))
cat(sum(seconds[c("user.self", "sys.self")]), "\n")

# Cox's elastic net by glmnet, stopped late: Rscript cox_by_glmnet.R folder
# Reads example.tsv (features, then time and status), lambda.tsv, weights.tsv and ratio.tsv there;
# writes coefficients.tsv, a column for each lambda.
suppressMessages({library(glmnet); library(survival)})
folder <- commandArgs(TRUE)[1]
from <- function(name) read.delim(file.path(folder, name), header = FALSE)
table <- as.matrix(from("example.tsv"))
d <- ncol(table) - 2
fit <- glmnet(
  table[, 1:d], Surv(table[, d + 1], table[, d + 2]), family = "cox", alpha = from("ratio.tsv")[1, 1],
  lambda = from("lambda.tsv")[, 1], penalty.factor = from("weights.tsv")[, 1], standardize = FALSE,
  thresh = 1e-14, maxit = 1e7
)
B <- format(as.matrix(fit$beta), digits = 17)
write.table(B, file.path(folder, "coefficients.tsv"), sep = "\t", quote = FALSE, col.names = FALSE,
            row.names = FALSE)

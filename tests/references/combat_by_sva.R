# Made combat_by_sva.tsv (R 4.2.2, sva 3.46.0): Rscript combat_by_sva.R > combat_by_sva.tsv
# 40 genes x 19 samples. Gene 7 is constant inside batch b, which sva leaves alone. Rows: the batch
# of each sample, two covariates (age, sex), the data as given (given.1 ...), and adjusted plainly
# (plain.1 ...), with c as reference batch (reference.1 ...), with both covariates (covariates.1
# ...), with both and c as reference (both.1 ...), and samples of a and c alone, c the reference
# (alone.1 ...).
suppressMessages(library(sva))
set.seed(2)
batch <- rep(c("a", "b", "c"), c(6, 5, 8))
age <- round(rnorm(19, 50, 10)); sex <- rep(0:1, length.out = 19)
x <- matrix(rnorm(40 * 19, 8, 1), 40) * (1 + 0.5 * (batch == "b"))[col(diag(19))[1, ]][rep(1:19, each = 40)] +
  outer(rnorm(40), (batch == "a") * 1.5) + outer(rnorm(40, 0, 0.02), age)
x <- round(x, 3)
x[7, batch == "b"] <- 9
quiet <- function(...) { sink(stderr()); on.exit(sink()); suppressMessages(ComBat(...)) }
mod <- cbind(1, age, sex)
results <- list(
  given = x, plain = quiet(x, batch), reference = quiet(x, batch, ref.batch = "c"),
  covariates = quiet(x, batch, mod), both = quiet(x, batch, mod, ref.batch = "c")
)
alone <- x; keep <- batch != "b"
alone[, keep] <- quiet(x[, keep], batch[keep], ref.batch = "c")
results$alone <- alone
cat("row", paste0("s", 1:19), sep = "\t"); cat("\n")
line <- function(name, values) { cat(name, values, sep = "\t"); cat("\n") }
line("batch", batch); line("age", age); line("sex", sex)
for (name in names(results)) for (k in 1:40)
  line(paste0(name, ".", k), format(results[[name]][k, ], digits = 17, trim = TRUE))

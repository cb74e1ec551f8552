# Rscript parity_live.R FOLDER GENES SAMPLES: reads x.bin (genes x samples, column by column),
# batch.txt and covariates.tsv of the folder, writes one .bin for each result and prints the seconds.
suppressMessages({library(sva); library(limma)})
given <- commandArgs(TRUE)
folder <- given[1]; genes <- as.integer(given[2]); samples <- as.integer(given[3])
x <- matrix(readBin(file.path(folder, "x.bin"), "double", genes * samples), genes)
batch <- readLines(file.path(folder, "batch.txt"))
mod <- cbind(1, as.matrix(read.table(file.path(folder, "covariates.tsv"))))
last <- sort(unique(batch))[length(unique(batch))]
quiet <- function(...) { sink(stderr()); on.exit(sink()); suppressMessages(ComBat(...)) }
runs <- list(
  quantile = function() normalizeQuantiles(x, ties = TRUE),
  plain = function() quiet(x, batch),
  reference = function() quiet(x, batch, ref.batch = last),
  covariates = function() quiet(x, batch, mod),
  both = function() quiet(x, batch, mod, ref.batch = last)
)
for (name in names(runs)) {
  seconds <- system.time(result <- runs[[name]]())[["elapsed"]]
  writeBin(as.vector(result), file.path(folder, paste0(name, ".bin")))
  cat(name, seconds, "\n")
}

# Made probes_by_makecdfenv.tsv (R 4.2.2, makecdfenv 1.74.0), beside the project's shared data:
# Rscript probes_by_makecdfenv.R > probes_by_makecdfenv.tsv
# Of each probe set of the real chip Test3: its number of probes, and the sum of 1, 2, ... times
# their cells, counted from 1, which no other order has but by accident.
suppressMessages(library(makecdfenv))
layout <- function(form) {
  folder <- file.path("..", "..", "..", "shared", "data", "affy")
  cells <- as.list(make.cdf.env(paste0("Test3.", form, ".CDF"), cdf.path = folder, verbose = FALSE))
  cells <- cells[sort(names(cells), method = "radix")]
  data.frame(set = names(cells), probes = sapply(cells, nrow),
             places = sapply(cells, function(cell) sum(seq_len(nrow(cell)) * cell[, "pm"])))
}
stopifnot(isTRUE(all.equal(layout("ascii"), layout("xda"))))
write.table(layout("ascii"), sep = "\t", quote = FALSE, row.names = FALSE)

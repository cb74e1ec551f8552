# Made agilent_by_limma.tsv (R 4.2.2, limma 3.54.1), beside the project's shared data:
# Rscript agilent_by_limma.R > agilent_by_limma.tsv
# The real two-colour arrays: median signal less median background, log2 ratio, loess of
# normalizeWithinArrays over all spots; of the spots that are no control the median of each probe.
suppressMessages(library(limma))
folder <- file.path("..", "..", "..", "shared", "data", "agilent")
sink(stderr())
arrays <- read.maimages(sort(list.files(folder)), path = folder, source = "agilent.median")
sink()
ratio <- normalizeWithinArrays(arrays, method = "loess")
kept <- arrays$genes$ControlType == 0
probe <- arrays$genes$ProbeName[kept]
M <- apply(ratio$M[kept, ], 2, function(m) tapply(m, probe, median, na.rm = TRUE))
M <- M[order(rownames(M), method = "radix"), ]
out <- data.frame(probe = rownames(M), M, row.names = NULL)
write.table(format(out, digits = 17, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

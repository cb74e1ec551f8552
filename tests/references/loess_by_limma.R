# Made loess_by_limma.tsv (R 4.2.2, limma 3.54.1): Rscript loess_by_limma.R > loess_by_limma.tsv
# 700 spots x 3 arrays: red, green, their backgrounds, and the log ratio that normalizeWithinArrays
# gives with its usual settings (method loess: span 0.3, 4 iterations). The first array has spots
# below background, the second has many ties, the third 40 spots only (the others are NA).
suppressMessages(library(limma))
set.seed(3)
n <- 700
truth <- rnorm(n, 9, 1.5)
spots <- function(shift) round(2^(truth + rnorm(n, shift * (truth - 8), 0.3)) + 50, 1)
R <- cbind(spots(0.1), round(spots(-0.1), -2) + 60, spots(0)); G <- cbind(spots(0), round(spots(0), -2) + 60, spots(0.2))
R[sample(n, 25), 1] <- R[sample(n, 25), 1] * 8
R[41:n, 3] <- NA
Rb <- matrix(round(rnorm(3 * n, 50, 5), 1), n); Gb <- matrix(round(rnorm(3 * n, 50, 5), 1), n)
Rb[, 2] <- 50; Gb[, 2] <- 50; Rb[1:9, 1] <- R[1:9, 1] + 1
M <- normalizeWithinArrays(new("RGList", list(R = R, G = G, Rb = Rb, Gb = Gb)), method = "loess")$M
columns <- data.frame(red = R, green = G, red.glow = Rb, green.glow = Gb, ratio = M)
write.table(format(columns, digits = 17, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

# Made knn_by_impute.tsv (R 4.2.2, impute 1.72.3): Rscript knn_by_impute.R > knn_by_impute.tsv
# 60 genes x 14 samples with 8 % missing: as given (g1-g14) and imputed from 5 neighbours
# (i1-i14). Genes 9 and 10 miss more than half of their values, so they get the samples' means (two
# of them, because this version gives 0 to a single one; for sample 1 it takes the value of gene 1
# as 0 on the way, which the test leaves out). Sample 4 misses gene 21 and all its neighbours.
suppressMessages(library(impute))
set.seed(4)
x <- matrix(rnorm(60 * 3), 60) %*% matrix(rnorm(3 * 14), 3) + rnorm(60 * 14, 8, 0.4)
x <- round(x, 3)
x[sample(length(x), 0.08 * length(x))] <- NA
x[9:10, 1:8] <- NA
near <- order(rowMeans((x - x[rep(21, 60), ])^2, na.rm = TRUE))[1:7]
x[c(21, near), 4] <- NA
sink(stderr()); imputed <- suppressWarnings(impute.knn(x, k = 5)$data); sink()
colnames(x) <- paste0("g", 1:14); colnames(imputed) <- paste0("i", 1:14)
write.table(format(data.frame(x, imputed), digits = 17, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

# Made quantile_by_limma.tsv (R 4.2.2, limma 3.54.1): Rscript quantile_by_limma.R > quantile_by_limma.tsv
# 12 genes x 4 arrays with ties inside arrays; columns a1-a4 as given, n1-n4 normalised. limma takes
# its target from all four arrays, so the test fits on all four.
x <- cbind(
  a1 = c(5, 2, 3, 4, 4, 4, 9.5, 0.25, 7, 1, 2, 6),
  a2 = c(4, 1, 4, 2, 8, 8, 8, 8, 3, 3.5, 2, 6),
  a3 = c(3, 4, 6, 8, 1, 1, 1, 12, 12, 5, 7, 2),
  a4 = c(10, 10, 10, 20, 30, 40, 10, 50, 60, 70, 80, 20)
)
n <- limma::normalizeQuantiles(x, ties = TRUE)
colnames(n) <- sub("a", "n", colnames(n))
write.table(format(cbind(x, n), digits = 17, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

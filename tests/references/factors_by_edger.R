# Made factors_by_edger.tsv (R 4.2.2, edgeR 3.40.2, DESeq2 1.38.3):
# Rscript factors_by_edger.R > factors_by_edger.tsv
# Size factors and TMM factors of the counts in vst_by_deseq2.tsv; and of these with 20 genes a
# hundredfold in the first three samples, as where the composition differs.
suppressMessages({library(DESeq2); library(edgeR)})
x <- as.matrix(read.delim("vst_by_deseq2.tsv")[, paste0("a", 1:8)])
z <- x
z[101:120, 1:3] <- 100 * z[101:120, 1:3]
write.table(format(cbind(
  library = colSums(x), ratios = estimateSizeFactorsForMatrix(x), tmm = calcNormFactors(x),
  ratios_composed = estimateSizeFactorsForMatrix(z), tmm_composed = calcNormFactors(z)
), digits = 15, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

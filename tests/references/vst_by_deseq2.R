# Made vst_by_deseq2.tsv (R 4.2.2, DESeq2 1.38.3): Rscript vst_by_deseq2.R > vst_by_deseq2.tsv
# 240 genes x 8 samples of very different depth, negative binomial with dispersion 0.05 + 2/mean, low
# genes with zeros among them; columns a1-a8 are counts, v1-v8 their vst, dispersion that of the gene
# alone (NA for genes that the trend is not fitted to), trend the fitted one at its mean.
suppressMessages(library(DESeq2))
set.seed(1)
mean <- exp(seq(log(2), log(5000), length.out = 240))
depth <- c(0.3, 0.5, 0.8, 1, 1, 1.3, 2, 4)
expected <- outer(mean, depth)
x <- matrix(rnbinom(length(expected), mu = expected, size = rep(1 / (0.05 + 2 / mean), 8)), 240)
dimnames(x) <- list(paste0("g", 1:240), paste0("a", 1:8))
d <- estimateSizeFactors(DESeqDataSetFromMatrix(x, data.frame(one = factor(1:8)), ~1))
above <- rowMeans(counts(d, normalized = TRUE)) > 5
v <- assay(vst(d, nsub = sum(above)))
colnames(v) <- sub("a", "v", colnames(v))
e <- estimateDispersionsFit(estimateDispersionsGeneEst(d[above, ], quiet = TRUE), quiet = TRUE)
dispersion <- rep(NA, 240)
dispersion[above] <- mcols(e)$dispGeneEst
trend <- dispersionFunction(e)(rowMeans(counts(d, normalized = TRUE)))
write.table(format(cbind(x, v, dispersion, trend), digits = 12, trim = TRUE), sep = "\t", quote = FALSE,
            row.names = FALSE)

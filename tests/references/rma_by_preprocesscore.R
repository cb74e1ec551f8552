# Made rma_by_preprocesscore.tsv (R 4.2.2, preprocessCore 1.60.2, the code behind affy::rma):
# Rscript rma_by_preprocesscore.R > rma_by_preprocesscore.tsv
# 330 probes in 40 sets of 1 to 16 probes x 5 arrays with ties: x1-x5 as given, b1-b5 without
# background, s1-s5 the value of the probe's set. preprocessCore takes target and effects from all
# five arrays.
suppressMessages(library(preprocessCore))
set.seed(1)
set <- rep(1:40, c(1:16, 16:1, 11, 11, 11, 11, 2, 2, 5, 5))
n <- length(set)
x <- sapply(1:5, function(j) round(2^rnorm(n, 7 + sin(set), 1.2) + rnorm(n, 90, 12), 1))
b <- rma.background.correct(x, copy = TRUE)
q <- normalize.quantiles(b)
s <- subColSummarizeMedianpolishLog(q, factor(set))
s <- s[match(as.character(set), if (is.null(rownames(s))) levels(factor(set)) else rownames(s)), ]
colnames(x) <- paste0("x", 1:5); colnames(b) <- paste0("b", 1:5); colnames(s) <- paste0("s", 1:5)
write.table(format(data.frame(set, x, b, s), digits = 17, trim = TRUE), sep = "\t", quote = FALSE, row.names = FALSE)

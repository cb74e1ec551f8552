# Makes tests/references/r_objects.rda: an ExpressionSet as Bioconductor stores one, and two objects
# that genesig must refuse with advice. Run in this folder: Rscript r_objects.R
suppressMessages(library(Biobase))
values <- matrix(c(1.5, 2, NA, 4, 5, 6.25), 2,
                 dimnames = list(c("g1", "g2"), c("a", "b", "c")))
eset <- ExpressionSet(
  values,
  AnnotatedDataFrame(data.frame(class = factor(c("x", "y", "x")), age = c(40, NA, 3.5),
                                row.names = colnames(values))),
  featureData = AnnotatedDataFrame(data.frame(symbol = c("S1", "S2"), row.names = rownames(values)))
)
setClass("SummarizedExperiment", representation(assays = "matrix"))
summarized <- new("SummarizedExperiment", assays = values)
named <- as.data.frame(values)
beside <- data.frame(gene = rownames(values), a = c(1, 2), b = c(3, 4))
bare <- unname(values)
words <- matrix(c("u", "v"), 1, dimnames = list("g", c("a", "b")))
model <- lm(c(1, 2, 4) ~ c(1, 2, 3))
save(values, eset, summarized, named, beside, bare, words, model, file = "r_objects.rda",
     version = 2)

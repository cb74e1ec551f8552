"""Select with derivative penalties on all samples, and draw the curves of this model."""

from genesig.data.files.names import FileCopies
from genesig.log import log_to
from genesig.results import save_table
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.nonlinear.loop import nonlinear_final
from genesig.selection.nonlinear.training_sets import NonlinearProtocol

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = NonlinearProtocol(**copies.with_paths(snakemake.params.settings))
fits, curves = nonlinear_final(study, settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.curves, curves)

"""Select with derivative penalties on a batch of outer splits."""

from genesig.data.files.names import FileCopies
from genesig.log import log_to
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.nonlinear.loop import nonlinear_loop
from genesig.selection.nonlinear.training_sets import NonlinearProtocol

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = NonlinearProtocol(**copies.with_paths(snakemake.params.settings))
fits = nonlinear_loop(study, settings, **snakemake.wildcards)
fits.save(snakemake.output[0])

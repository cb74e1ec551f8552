"""Render the report."""

from genesig.log import log_to
from genesig.report.card import write_card
from genesig.report.render import render
from genesig.results import load_json, save_text

log_to(snakemake.log[0])
data = load_json(snakemake.input.data)
out = snakemake.output
settings = snakemake.params.settings
save_text(out.card, write_card(data, settings["title"]))
render(data, out.html, out.figures, snakemake.threads, **settings)

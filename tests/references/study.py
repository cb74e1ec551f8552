"""A study without its files: the calls of the workflow's scripts, in their order."""

import yaml
from linear_loops import fit_final_model, nested_cross_validation
from places import ROOT

from genesig.data.files.readers import load_schema
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.selection.linear.training_sets import linear_keywords

PRESET = ROOT / "config" / "thesis2009.yaml"


def preset():
    """Return what the preset thesis2009 sets, as it is written."""
    return yaml.safe_load(PRESET.read_text(encoding="utf-8"))


def settings(raw, **sections):
    """Return the config with its defaults; each section given adds to that of `raw`."""
    names = {"expression": "e.tsv", "samples": "s.tsv", "label": "l"}
    joined = {key: {**raw.get(key, {}), **sections.get(key, {})} for key in {**raw, **sections}}
    return resolve_config({**names, **joined}, load_schema())


def splits_of(dataset, config, seed=0):
    """Draw the splits of a study."""
    return draw_splits(dataset, seed=seed, **config["splits"])


def outer_fits(dataset, splits, config, labels="observed"):
    """Fit all outer splits in one batch."""
    dataset = normalise_samples(dataset, **config["normalise"])
    steps = config["normalise"]["folds"]
    return nested_cross_validation(
        dataset, splits, labels=labels, batch="1of1", fold_steps=steps, **linear_keywords(config)
    )


def final_fit(dataset, splits, config):
    """Fit the final model on all samples."""
    dataset = normalise_samples(dataset, **config["normalise"])
    return fit_final_model(
        dataset, splits, fold_steps=config["normalise"]["folds"], **linear_keywords(config)
    )

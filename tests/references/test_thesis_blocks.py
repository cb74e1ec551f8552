"""Mosci (2009), section 6.4: genes join the block they were made in.

Three blocks of ten features, 30 samples; the minimal list is found by the published protocol, the
longer lists by growing mu, and each gene goes to the prototype it is most correlated with.
"""

import numpy as np
import pytest
from study import final_fit, preset, settings, splits_of
from toys import BLOCKS, dataset, three_blocks

from genesig.selection.genes.blocks import block_tables

pytestmark = pytest.mark.slow

NO_BLOCKS = -2  # no block is given: no prototype is correlated enough


def assignments(variant, seed):
    """Return true block of each gene of the lists and of its prototype, -1 for noise."""
    study = dataset(*three_blocks(np.random.default_rng(seed), variant))
    config = settings(preset(), splits={"subsamples": 0})
    final = final_fit(study, splits_of(study, config), config)
    blocks, _ = block_tables(study, final, **config["clusters"])
    number = {gene: at for at, gene in enumerate(study.genes)}
    gene, prototype = (BLOCKS[blocks[column].map(number)] for column in ("gene", "prototype"))
    return gene, np.where(blocks["block"].isna(), NO_BLOCKS, prototype)


@pytest.mark.parametrize("variant", [1, 2, 3])
@pytest.mark.parametrize("replications", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_genes_join_their_own_block(variant, replications):
    genes, prototypes = np.hstack([assignments(variant, seed) for seed in range(replications)])
    made_in_a_block = genes >= 0
    assert np.mean((genes == prototypes)[made_in_a_block]) >= 0.99
